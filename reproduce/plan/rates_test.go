// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
)

// TestImagesHaveRatesOfTheirOwn: a rate on vectors says nothing about them.
func TestImagesHaveRatesOfTheirOwn(t *testing.T) {
	run := libtest.Record(t, configure(t, Request{Task: "wheel", Method: "mappo", Budget: "short", Seed: 9}), "mappo")
	run.Host.CPU, run.Host.Cores, run.Host.Seconds = results.CollectHost("").CPU, runtime.NumCPU(), 600
	st := libtest.Committed(t, run)
	var es []experiment.Config
	for _, task := range []string{"balance", "chicken_in_the_matrix__repeated", "clean_up", "navigation", "stag_hunt_in_the_matrix__repeated"} {
		es = append(es, configure(t, Request{Task: task, Method: "mappo", Budget: "short", Seed: 1}))
	}
	costs := must.Get(Costs(es, st))(t)
	want := []Cost{
		{Method: "mappo", Runs: 2, Frames: 1_200_000, Longest: 600_000, Rate: Rate{FPS: 1000, Measured: 1}},
		{Method: "mappo", ImageAgents: 2, Runs: 2, Frames: 1_200_000, Longest: 600_000},
		{Method: "mappo", ImageAgents: 7, Runs: 1, Frames: 30_000, Longest: 30_000},
	}
	if !slices.Equal(costs, want) {
		t.Errorf("%+v, want %+v", costs, want)
	}
	if _, _, known := strings.Cut(CostTable(costs).Notes[0], "without methods of unknown rate"); !known {
		t.Errorf("%q leaves out that images have no rate", CostTable(costs).Notes[0])
	}
}

// TestAForksTimeIsThatOfItsOwnFrames: a branch at 540,000 of 600,000 frames is no run that was ten times as fast.
func TestAForksTimeIsThatOfItsOwnFrames(t *testing.T) {
	st, cpu := libtest.Store(t), results.CollectHost("").CPU
	e := configure(t, Request{Task: "balance", Method: "mappo", Budget: "short", Seed: 1})
	fork := e
	fork.Forks = []experiment.Fork{{Parent: "0123abcd", At: 540_000}}
	for id, run := range map[string]experiment.Config{"0123abcd": e, "4567cdef": fork} {
		text := must.Get(conf.Marshal(run))(t)
		header := results.Record{ID: id, Task: "vmas/balance", Method: "mappo", Budget: "short", Seed: 1, Experiment: text}
		r := must.Get(st.Claim(t.Context(), header, false, nil))(t)
		seconds := map[string]float64{"0123abcd": 600, "4567cdef": 60}[id]
		must.Do(t, errors.Join(r.AppendScalars(600_000, map[string]float64{"x": 1}), r.Finish(results.Host{CPU: cpu, Cores: runtime.NumCPU(), Seconds: seconds}), r.Close()))
	}
	rates := must.Get(NewRates(st))(t)
	if got := rates.here[rateKey{"mappo", "short", 0}].fps(); got != 1000 {
		t.Errorf("%g frames/s, want 1000", got)
	}
}

// Two runs of 600,000 frames that took one and three minutes predict two minutes for the next one, on any task of the
// kind.
func TestRatesAreTotalFramesOverTotalTime(t *testing.T) {
	cpu := results.CollectHost("").CPU
	var rs []*results.Record
	for task, seconds := range map[string]float64{"balance": 60, "wheel": 180} {
		r := libtest.Record(t, configure(t, Request{Task: task, Method: "mappo", Budget: "short", Seed: 1}), "mappo")
		r.Host.CPU, r.Host.Cores, r.Host.Seconds = cpu, runtime.NumCPU(), seconds
		rs = append(rs, r)
	}
	next := configure(t, Request{Task: "flocking", Method: "mappo", Budget: "short", Seed: 1})
	for st, want := range map[*results.Store]time.Duration{libtest.Committed(t, rs...): 2 * time.Minute, libtest.Store(t): 0} {
		costs, err := Costs([]experiment.Config{next}, st)
		if err != nil || costs[0].Takes(costs[0].Frames) != want {
			t.Errorf("the next run costs %+v (%v), want %v", costs, err, want)
		}
	}
}

func TestRatesComeFromHereElseFromOtherProcessorsElseFromTheSlowdownAgainstMAPPO(t *testing.T) {
	r := &Rates{
		here: map[rateKey]pace{{"qmix", "short", 0}: {3, 600, 3}},
		all: map[rateKey]pace{
			{"qmix", "short", 0}: {5, 2400, 4}, {"mappo", "short", 0}: {1, 2000, 1}, {"mappo", "explore", 0}: {1, 8000, 1},
			{"mace", "explore", 0}: {1, 2000, 1}, {"mappo", "short", 7}: {1, 40, 1},
			{"cpm", "explore", 0}: {1, 8000, 1}, {"cpm", "short", 0}: {1, 1000, 1}, // half as fast as MAPPO where the tables are
		},
	}
	// MAPPO takes 10 epochs at short and 30 at the paper's budget: (1 + 3·10) / (1 + 3·30) of its frames a second.
	const slower = 31. / 91
	for _, c := range []struct {
		method, budget string
		agents         int
		want           Rate
	}{
		{"qmix", "short", 0, Rate{FPS: 200, Measured: 3}},
		{"mappo", "short", 0, Rate{FPS: 2000, Source: Elsewhere}},
		{"mappo", "paper", 0, Rate{FPS: 2000 * slower, Source: Estimated}},
		{"mace", "short", 0, Rate{FPS: 500, Source: Estimated}},
		{"mace", "paper", 0, Rate{FPS: 500 * slower, Source: Estimated}},
		{"mace", "short", 7, Rate{FPS: 10, Source: Estimated}},
		{"cpm", "paper", 0, Rate{FPS: 1000 * slower, Source: Estimated}},
		{"mappo-db", "short", 0, Rate{}},
	} {
		got := r.Of(c.method, c.budget, c.agents)
		if math.Abs(got.FPS-c.want.FPS) > 1e-9 || got.Measured != c.want.Measured || got.Source != c.want.Source {
			t.Errorf("%s at %s, images of %d agents: %+v, want %+v", c.method, c.budget, c.agents, got, c.want)
		}
	}
	empty := must.Get(results.Open(filepath.Join(t.TempDir(), "none")))(t)
	if none, err := NewRates(empty); err != nil || none.Of("mappo", "short", 0).FPS != 0 {
		t.Errorf("a store without runs knows a rate, %v", err)
	}
	if _, err := os.Stat(empty.Dir()); err == nil {
		t.Error("asking leaves a folder behind")
	}
}

func TestTablesAreTrainedInTheirOrderSeedBySeedAndEachRunOnce(t *testing.T) {
	all, missing := Benchmarks(paper.Benchmarks, "smoke", 2)
	one, _ := Benchmark(paper.Sota, "smoke", 2)
	if len(missing) > 0 || len(one) == 0 || len(all) <= len(one) || len(all)%2 != 0 {
		t.Fatalf("%d runs of all tables, %d of the first; %v", len(all), len(one), missing)
	}
	seen := map[string]bool{}
	for i, e := range all {
		id, err := e.ID()
		if err != nil || seen[id] {
			t.Errorf("run %d is listed twice, or %v", i, err)
		}
		seen[id] = true
		if want := uint64(1 + 2*i/len(all)); e.Seed != want {
			t.Errorf("run %d has seed %d, want %d", i, e.Seed, want)
		}
		if i < len(one)/2 && !reflect.DeepEqual(e, one[i]) {
			t.Errorf("run %d is %s on %s, want the first table's", i, e.Label(), e.Task.Kind())
		}
	}
	for _, table := range paper.Benchmarks {
		es, _ := Benchmark(table, "smoke", 2)
		for _, e := range es {
			if id, _ := e.ID(); !seen[id] {
				t.Errorf("%s of table %s is left out", e.Label(), table.Name)
			}
		}
	}
}
