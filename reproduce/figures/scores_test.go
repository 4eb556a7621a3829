// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func TestFinalScoresStandBesideBaselinesAndRecordedRuns(t *testing.T) {
	st := libtest.Store(t)
	table := must.Get(FinalScores(st, []string{"balance", "passage"}, "short", "dense"))(t)
	rows := map[string][]string{}
	for _, row := range table.Rows {
		if len(row) != len(table.Header) || len(row) != 3 {
			t.Fatalf("%q under %q", row, table.Header)
		}
		rows[row[0]] = row
	}
	if rows["random play"][1] == "–" || rows["script"][2] == "–" || rows["mappo-cermic"][1] != "–" {
		t.Errorf("play without learning and an empty store give %v, %v, %v", rows["random play"], rows["script"], rows["mappo-cermic"])
	}
	if rows["mappo-cermic-ucb"] == nil || rows["qplex"] != nil {
		t.Errorf("want the paper's methods and those with Theorem 1's bonus: %v", rows)
	}
	if got := rows["BenchMARL mappo"]; !strings.HasSuffix(got[1], "× 3") || strings.Contains(got[1], "°") || got[2] != "–" {
		t.Errorf("three recorded runs on balance and none on passage are shown as %v", got)
	}
	if sparse, err := FinalScores(st, []string{"balance"}, "short", "sparse"); err != nil || len(sparse.Rows) != len(table.Rows)-2 {
		t.Errorf("BenchMARL, trained on the dense reward, stands beside the sparse one: %v, %v", sparse.Rows, err)
	}
	if _, err := FinalScores(st, []string{"balanse"}, "short", "dense"); err == nil || !strings.Contains(err.Error(), "balance") {
		t.Errorf("a mistyped task: %v", err)
	}
}

func TestWhatMayBeChanceIsMarked(t *testing.T) {
	run := func(seed uint64, score float64) *results.Record {
		return &results.Record{Seed: seed, Evals: []results.Eval{{Scores: []float64{score}}}}
	}
	for _, c := range []struct {
		scores []float64
		marked bool
	}{{[]float64{2.6, 3, 3.4}, false}, {[]float64{2, 3, 4}, true}, {[]float64{0.5, 3, 4}, true}, {[]float64{5}, true}, {[]float64{-1, -2, -3}, true}} {
		var g results.Group
		for i, s := range c.scores {
			g.Runs = append(g.Runs, run(uint64(i), s))
		}
		if got, err := finalScore(g, 1); err != nil || strings.Contains(got, "°") != c.marked {
			t.Errorf("%v above chance at 1: %q", c.scores, got)
		}
	}
}

func TestRunsAtThePapersBudgetStandBesideShorterOnesAndThePrintedNumbers(t *testing.T) {
	methods := []string{"mappo", "mappo-cermic", "mappo-cermic-literal"}
	all := must.Get(plan.Grid([]string{"balance"}, methods, "paper", 2, "task.reward=dense"))(t)
	for _, more := range []struct {
		task, method, budget string
	}{{"navigation", "mappo", "paper"}, {"balance", "mappo", "short"}, {"dispersion", "mappo", "short"}} {
		es := must.Get(plan.Grid([]string{more.task}, []string{more.method}, more.budget, 1, "task.reward=dense"))(t)
		all = append(all, es...)
	}
	score := map[string][]float64{"mappo": {1}, "mappo task.reward=dense": {60, 62}, "mappo-cermic task.reward=dense": {64, 66}, "mappo-cermic-literal task.reward=dense": {1, 1}}
	st := ended(t, all, score, func(last *results.Eval, x float64) {
		if last.Frames < 3_000_000 {
			x -= 10
		}
		last.Scores = []float64{x}
	})
	shown := must.Get(PaperBudgetTable(st, "short", "dense"))(t)
	want := [][]string{
		{"Navigation", "MAPPO", "–", "1 (1)", "–", "1.08", "−0.08"},
		{"Balance", "MAPPO", "50 (1)", "61 [48.3, 73.7] (2)", "11", "60.3°", "0.7"}, // of dense training the paper prints no MAPPO
		{"Balance", "MAPPO-CERMIC", "–", "65 [52.3, 77.7] (2)", "–", "65.6", "−0.6"},
		{"Balance", "mappo-cermic-literal", "–", "1 (2)", "–", "65.6", "−64.6"},
	}
	if rows := shown.(viz.Table).Rows; !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("%q, want %q", rows, want)
	}
	if curves, err := PaperBudgetCurves(st, "dense"); err != nil || len(curves.(viz.Panels).Rows) != 2 {
		t.Errorf("%v, %v; want a row for each task", curves, err)
	}
	training, err := PaperBudgetTraining(st, "dense", Trained{trainingReturn, "return", ""}, Trained{trainingReturn, "the same", ""})
	if p, ok := training.(viz.Panels); err != nil || !ok || len(p.Rows) != 2 || len(p.Rows[0]) != 2 {
		t.Errorf("%v, %v; want a row for each task, a column for each quantity", training, err)
	}
	some, err := PaperBudgetTraining(st, "dense", Trained{trainingReturn, "return", ""}, Trained{"vmas/balance", "on Balance alone", ""})
	if p, ok := some.(viz.Panels); err != nil || !ok || len(slices.Concat(p.Rows...)) != 3 {
		t.Errorf("%v, %v; want three panels, as one task lacks a quantity", some, err)
	}
}

func TestNoRunAtThePapersBudgetIsSaid(t *testing.T) {
	st := libtest.Store(t)
	table, err := PaperBudgetTable(st, "short", "sparse")
	if said, ok := table.(string); err != nil || !ok || !strings.Contains(said, "-budget paper -set task.reward=sparse") {
		t.Errorf("%v, %v", table, err)
	}
	if curves, err := PaperBudgetCurves(st, "sparse"); err != nil || curves != table {
		t.Errorf("%v, %v", curves, err)
	}
	if training, err := PaperBudgetTraining(st, "sparse", Trained{"entropy", "entropy", ""}); err != nil || training != table {
		t.Errorf("%v, %v", training, err)
	}
}
