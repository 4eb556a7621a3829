// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// record stores a complete run of e without training it, which ends with so many successes in four episodes.
func record(t *testing.T, st *results.Store, e experiment.Config, successes int) {
	t.Helper()
	id, err := e.ID()
	if err != nil {
		t.Fatal(err)
	}
	text, err := conf.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	r, err := st.Claim(t.Context(), id, text, results.Record{Task: e.Task.Kind(), Method: e.Label(), Budget: e.Budget.Name, Seed: e.Seed}, false, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	eval := func(frames, successes int) results.Eval {
		out := results.Eval{Frames: frames, Scores: make([]float64, 4), Success: make([]float64, 4)}
		for k := range successes {
			out.Scores[k], out.Success[k] = 1, 1
		}
		return out
	}
	for _, err := range []error{
		r.AppendScalars(3000, map[string]float64{"coverage": 0.25}), r.AppendEval(eval(3000, 4-successes)),
		r.AppendScalars(150_000, map[string]float64{"coverage": 1}), r.AppendEval(eval(150_000, successes)), r.Finish(results.Host{}), r.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

var smallStudy = Exploration{
	Tasks: []string{"explore/lock", "explore/rooms task.tv=screen"}, Methods: []string{"mappo", "mace", "mappo-cermic explore.int_form=elliptical"},
	Weights: []string{"0.5"}, Budget: "explore", Seeds: 3,
}

func TestAStudyOfExplorationListsEachExperimentOnce(t *testing.T) {
	es, err := smallStudy.Experiments()
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 3 * (1 + 2 + 2); len(es) != want { // mappo has no weight
		t.Errorf("%d experiments, want %d", len(es), want)
	}
	twice := smallStudy
	twice.Methods = append([]string{"mace explore.int_coef=0.5"}, twice.Methods...)
	again, err := twice.Experiments()
	if err != nil || len(again) != len(es) {
		t.Errorf("%d experiments, %v; want %d: a weight that was listed as a setting is no other run", len(again), err, len(es))
	}
	ices, err := Exploration{Tasks: []string{"explore/lock"}, Methods: []string{"qplex-ices"}, Weights: []string{"0.3"}, Budget: "explore", Seeds: 1}.Experiments()
	if err != nil || len(ices) != 2 || !strings.Contains(ices[1].Label(), "explore.int_ratio=0.3") {
		t.Errorf("weights of ICES make %d experiments: %v", len(ices), err)
	}
	for _, bad := range []Exploration{{Tasks: []string{""}, Methods: []string{"mappo"}, Budget: "explore", Seeds: 1},
		{Tasks: []string{"explore/lok"}, Methods: []string{"mappo"}, Budget: "explore", Seeds: 1}} {
		if _, err := bad.Experiments(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("task %q: %v, want one sentence", bad.Tasks, err)
		}
	}
}

// Two of three runs solve the lock, by their last evaluation and not by their first, one with exactly half of its
// episodes. Runs of other settings count nowhere.
func TestCellsCountTheRunsOfTheirExperimentsAlone(t *testing.T) {
	st := libtest.Store(t)
	rows, err := smallStudy.rows()
	if err != nil {
		t.Fatal(err)
	}
	lock := rows[1].arms[0].Experiments
	for seed, successes := range []int{4, 2, 1} {
		record(t, st, lock[seed], successes)
	}
	other := lock[0]
	if err := conf.Set(&other, "explore.int_coef", "0.123"); err != nil {
		t.Fatal(err)
	}
	record(t, st, other, 4)
	record(t, st, rows[0].arms[1].Experiments[0], 0)

	table, err := smallStudy.Table(st)
	if err != nil {
		t.Fatal(err)
	}
	const none = viz.Missing
	// Of 2 in 3: the exact interval by quantiles of the beta distribution; of 0 in 1: 1 − .025.
	want := [][]string{
		{"mappo", none, none, "0/1 [0.00, 0.97]", "0/1"}, {"mace", "0.01 (own)", "2/3 [0.09, 0.99]", none, "2/3"},
	}
	for i, row := range want {
		if !slices.Equal(table.Rows[i], row) {
			t.Errorf("row %q, want %q", table.Rows[i], row)
		}
	}
	if rest := table.Notes[len(table.Notes)-1]; !strings.HasPrefix(rest, "No complete run yet: mace 0.5, ") || strings.Count(rest, ",") != 2 {
		t.Errorf("of settings without runs it says %q", rest)
	}
	if len(table.Rows) != 2 || !slices.Equal(table.Header, []string{"method", "weight", "lock", "rooms tv=screen", "all"}) {
		t.Errorf("%d rows under %q", len(table.Rows), table.Header)
	}
	verdict, err := smallStudy.Verdict(st)
	if err != nil || verdict.Head != string(paper.NotTested) {
		t.Fatalf("the verdict is %q, %v", verdict.Head, err)
	}
	for _, line := range []string{
		"That is so on 0 of 2 tasks, by counting runs; significance is not tested.", // of the lock nobody without a bonus has runs
		"lock: solved by mace 2/3; 4 of 5 settings have no complete run.",
		"rooms tv=screen: solved by no method; not by mappo 0/1; 4 of 5 settings have no complete run.",
	} {
		if !slices.Contains(verdict.Lines, line) {
			t.Errorf("the verdict %q does not say %q", verdict.Lines, line)
		}
	}
	record(t, st, rows[0].arms[0].Experiments[0], 0)
	record(t, st, rows[1].arms[1].Experiments[0], 4)
	if verdict, err := smallStudy.Verdict(st); err != nil || verdict.Head != string(paper.Supported) {
		t.Errorf("MACE alone solves both tasks, which is %q: %q, %v", verdict.Head, verdict.Lines, err)
	}
	panels, err := smallStudy.Coverage(st)
	if err != nil || len(panels.Rows) != 1 || len(panels.Rows[0]) != 2 || len(panels.Legend) != 2 {
		t.Fatalf("coverage: %v, %d names", err, len(panels.Legend))
	}
	if p := panels.Rows[0][0]; p.X.Max < 150_000 || p.X.Max > 160_000 {
		t.Errorf("coverage of the lock ends at %g frames, want 150,000", p.X.Max)
	}
}

func TestWorldsAreTasksWithTheSettingsBehindThem(t *testing.T) {
	q := plan.In(plan.Request{Task: "explore/rooms task.tv=screen", Method: "mappo", Budget: "explore", Set: []string{"task.rooms=2"}})
	e := configure(t, q)
	cfg, err := plan.World("rooms task.rooms=2 task.tv=screen")
	if err != nil || q.Task != "explore/rooms" {
		t.Fatalf("%+v: %v", q, err)
	}
	if e.Task = e.Task.WithShared(cfg.Shared()); e.Task != cfg {
		t.Errorf("a request makes %+v, the world is %+v", e.Task, cfg)
	}
	for _, bad := range []string{"", "rooms seed=1", "rooms task.tv=radio", "room"} {
		if cfg, err := plan.World(bad); err == nil {
			_, err = cfg.Build(1, 1)
			if err == nil {
				t.Errorf("%q makes a world", bad)
			}
		}
	}
	table, err := Exploration{Tasks: []string{"explore/lock", "explore/rooms task.tv=peer"}}.Baselines(50, 1)
	if err != nil || len(table.Rows) != 2 || !slices.Equal(table.Rows[0], []string{"lock", "20", "0 %", "100 %"}) {
		t.Errorf("played: %q, %v", table.Rows, err)
	}
}

func TestOnlyRunsInTheSameWorldStandBesideEachOther(t *testing.T) {
	st := libtest.Store(t)
	ask := func(task string, seed uint64) experiment.Config {
		return configure(t, plan.In(plan.Request{Task: task, Method: "mappo", Budget: "explore", Seed: seed}))
	}
	for _, e := range []experiment.Config{ask("rooms", 1), ask("rooms task.tv=peer", 1), ask("rooms", 2)} {
		record(t, st, e, 0)
	}
	other := configure(t, plan.Request{Task: "rooms", Method: "mace", Budget: "explore", Seed: 1})
	record(t, st, other, 0)
	id, err := other.ID()
	if err != nil {
		t.Fatal(err)
	}
	front, err := st.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	gs, err := Alike(st, front)
	if err != nil || len(gs) != 2 || len(results.Flat(gs)) != 2 {
		t.Errorf("%d groups of %d runs, %v; want mace and mappo, one each", len(gs), len(results.Flat(gs)), err)
	}
	if none, err := Alike(st, &results.Record{}); err != nil || none != nil {
		t.Errorf("beside nothing: %v, %v", none, err)
	}
}
