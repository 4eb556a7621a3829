// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
)

// plant puts a complete run of e without evaluations into st.
func plant(t *testing.T, st *results.Store, e experiment.Config) string {
	t.Helper()
	id, r := claim(t, st, e)
	err := r.Finish(results.Host{})
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// claim begins a run of e in st, as a process that trains it does.
func claim(t *testing.T, st *results.Store, e experiment.Config) (string, *results.Run) {
	t.Helper()
	id, err := e.ID()
	if err != nil {
		t.Fatal(err)
	}
	text, err := conf.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	r, err := st.Claim(t.Context(), id, text, results.Record{Task: e.Task.Kind(), Method: e.Label(), Budget: e.Budget.Name, Seed: e.Seed}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id, r
}

func TestTheOrderOfValueFillsEmptyCellsThenSeedsThenDearMethods(t *testing.T) {
	st := libtest.Store(t)
	// Every method of the paper is as fast as MAPPO, but for MAPPO-DB, which is 100 times slower than all.
	for _, m := range methods {
		fps := 1000.0
		if m.ID == "mappo-db" {
			fps = 10
		}
		if m.ID != "cpm" { // which nobody has measured
			s := sample{CPU: results.CollectHost("").CPU, Backend: "go", Method: m.ID, Budget: "smoke", FPS: fps}
			if err := appendSample(st.Dir(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	done, err := New(Request{Task: "dispersion", Method: "mappo", Budget: "smoke", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	have := plant(t, st, done)
	const seeds = 3
	c, err := NewCampaign(st, "smoke", seeds)
	if err != nil {
		t.Fatal(err)
	}
	steps := c.Missing
	wanted := map[string]bool{}
	for _, table := range paper.Benchmarks {
		es, _ := Benchmark(table, "smoke", seeds)
		for _, e := range es {
			id, err := e.ID()
			if err != nil {
				t.Fatal(err)
			}
			wanted[id] = id != have
		}
	}
	first, last := map[string]int{}, map[string]int{} // places of MAPPO's n-th seeds on vectors, and of MAPPO-DB's
	for i, s := range steps {
		id, err := s.Experiment.ID()
		if err != nil || !wanted[id] {
			t.Errorf("step %d, run %s of %s on %s, is shown by no table, is there, or comes twice (%v)", i, id, s.Experiment.Label(), s.Experiment.Task.Kind(), err)
		}
		delete(wanted, id)
		if i > 0 && s.Value() > steps[i-1].Value() {
			t.Errorf("step %d is worth more than the one before", i)
		}
		if s.Source == Assumed != (s.Experiment.Label() == "cpm" || strings.HasPrefix(s.Experiment.Label(), "cpm ") || kind(s.Experiment.Task.Kind()) > 0) {
			t.Errorf("the rate of %s on %s is %q", s.Experiment.Label(), s.Experiment.Task.Kind(), s.Source)
		}
		if kind(s.Experiment.Task.Kind()) > 0 || len(s.Cells) > 1 {
			continue
		}
		key := s.Experiment.Label()
		if key == "mappo" {
			key = []string{"first", "second", "third"}[s.Before]
		}
		if _, ok := first[key]; !ok {
			first[key] = i
		}
		last[key] = i
	}
	delete(wanted, have)
	if len(wanted) > 0 {
		t.Errorf("%d runs that tables lack are not planned", len(wanted))
	}
	if !(last["first"] < first["second"] && last["second"] < first["third"] && last["third"] < first["mappo-db"]) {
		t.Errorf("places from %v to %v", first, last)
	}
	i := slices.IndexFunc(steps, func(s Step) bool {
		return s.Experiment.Label() == "mappo" && s.Experiment.Task.Kind() == "vmas/dispersion"
	})
	if steps[i].Before != 1 || steps[i].Experiment.Seed != 2 {
		t.Errorf("after seed 1 comes %+v", steps[i])
	}
	text := c.Table(3).Text()
	if !strings.Contains(text, "-plan shows all") || !strings.Contains(text, "rate has not been measured") || strings.Count(text, "\n") > 7 {
		t.Errorf("the table is\n%s", text)
	}
}

func TestTheStandingCountsEachRunOfAllTablesOnce(t *testing.T) {
	st := libtest.Store(t)
	done, err := New(Request{Task: "balance", Method: "mappo-cermic", Budget: "smoke", Seed: 1}) // shown by all tables but one
	if err != nil {
		t.Fatal(err)
	}
	have := plant(t, st, done)
	going := done
	going.Seed = 2
	_, r := claim(t, st, going)
	defer r.Close()
	c, err := NewCampaign(st, "smoke", 3)
	if err != nil {
		t.Fatal(err)
	}
	table := c.Standing()
	if len(table.Rows) != len(paper.Benchmarks)+1 {
		t.Fatalf("%d lines for %d tables", len(table.Rows), len(paper.Benchmarks))
	}
	for _, row := range table.Rows {
		if want := map[bool]string{true: "0", false: "1"}[row[0] == "ablation"]; row[2] != want || row[3] != want { // which has no Balance
			t.Errorf("%q, want %s done and %s training", row, want, want)
		}
	}
	if _, err := NewCampaign(st, "shrot", 3); err == nil || !strings.Contains(err.Error(), "short") {
		t.Errorf("of an unknown budget: %v, want near ones", err)
	}
	all := c.Experiments()
	if first, err := all[0].ID(); err != nil || len(all) != len(c.Missing)+1 || first != have {
		t.Errorf("%d experiments of which %d are missing, the first is run %s (%v)", len(all), len(c.Missing), first, err)
	}
}

func TestTheFirstSeedOfACellIsWorthThreeTimesTheSecond(t *testing.T) {
	for n, want := range []float64{1. / 2, 1. / 6, 1. / 12} {
		if got := gain(n); math.Abs(got-want) > 1e-12 {
			t.Errorf("seed %d: %g, want %g", n+1, got, want)
		}
	}
}

// Two runs of 600,000 frames that took one and three minutes foretell two minutes for the next, and a task with runs of its own what these took.
func TestRatesAddTimesAndPreferTheSameTask(t *testing.T) {
	st := libtest.Store(t)
	cpu := results.CollectHost("").CPU
	var rs []*results.Record
	for task, seconds := range map[string]float64{"balance": 60, "wheel": 180} {
		r := libtest.Record(t, configure(t, Request{Task: task, Method: "mappo", Budget: "short", Seed: 1}), "mappo")
		r.Host.CPU, r.Host.Seconds = cpu, seconds
		rs = append(rs, r)
	}
	known, err := NewRates(libtest.Committed(t, rs...))
	if err != nil {
		t.Fatal(err)
	}
	for task, seconds := range map[string]float64{"wheel": 180, "flocking": 120} {
		if got := known.On(configure(t, Request{Task: task, Method: "mappo", Budget: "short", Seed: 2})); math.Abs(600_000/got.FPS-seconds) > 1e-9 {
			t.Errorf("%s takes %g s, want %g", task, 600_000/got.FPS, seconds)
		}
	}
	if empty, err := NewRates(st); err != nil || empty.On(configure(t, Request{Task: "wheel", Method: "mappo", Budget: "short", Seed: 1})).FPS != 0 {
		t.Error("an empty store has a rate, or ", err)
	}
}

func TestRatesComeFromHereElseFromOtherProcessorsElseFromTheSlowdownAgainstMAPPO(t *testing.T) {
	r := &Rates{
		here: map[rateKey]pace{{"qmix", "short", 0}: {3, 600, 3}},
		all: map[rateKey]pace{
			{"qmix", "short", 0}: {5, 2400, 4}, {"mappo", "short", 0}: {1, 2000, 1}, {"mappo", "explore", 0}: {1, 8000, 1}, {"mace", "explore", 0}: {1, 2000, 1},
			{"mappo", "short", 7}: {1, 40, 1},
		},
		sampled: map[[2]string]float64{{"mappo-eps", "short"}: 1234, {"qmix", "short"}: 1},
	}
	// MAPPO takes 10 epochs at short and 30 at the paper's budget: (1 + 3·10) / (1 + 3·30) of its frames a second.
	const slower = 31. / 91
	for _, c := range []struct {
		method, budget string
		agents         int
		want           Rate
	}{
		{"qmix", "short", 0, Rate{FPS: 200, Runs: 3}},
		{"mappo-eps", "short", 0, Rate{FPS: 1234, Source: Sampled}},
		{"mappo", "short", 0, Rate{FPS: 2000, Source: Elsewhere}},
		{"mappo", "paper", 0, Rate{FPS: 2000 * slower, Source: Estimated}},
		{"mace", "short", 0, Rate{FPS: 500, Source: Estimated}},
		{"mace", "paper", 0, Rate{FPS: 500 * slower, Source: Estimated}},
		{"mace", "short", 7, Rate{FPS: 10, Source: Estimated}},
		{"cpm", "short", 0, Rate{}},
	} {
		if got := r.of(c.method, c.budget, c.agents); math.Abs(got.FPS-c.want.FPS) > 1e-9 || got.Runs != c.want.Runs || got.Source != c.want.Source {
			t.Errorf("%s at %s, pictures of %d: %+v, want %+v", c.method, c.budget, c.agents, got, c.want)
		}
	}
	if got := r.slowest("short", 0); got != 200 {
		t.Errorf("the slowest is %g", got)
	}
	empty, err := results.Open(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	if none, err := NewRates(empty); err != nil || none.of("mappo", "short", 0).FPS != 0 || none.slowest("short", 0) != 0 {
		t.Errorf("a store without runs knows a rate, %v", err)
	}
	if _, err := os.Stat(empty.Dir()); err == nil {
		t.Error("asking leaves a folder behind")
	}
}
