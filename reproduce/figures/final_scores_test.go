// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
)

func TestFinalScoresStandBesideBaselinesAndRecordedRuns(t *testing.T) {
	st := libtest.Store(t)
	table, err := FinalScores(st, []string{"balance", "passage"}, "short", "dense")
	if err != nil {
		t.Fatal(err)
	}
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
