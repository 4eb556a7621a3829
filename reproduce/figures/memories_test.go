// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
)

// scoring is a group of runs, one per score.
func scoring(label string, scores ...float64) results.Group {
	g := results.Group{Label: label}
	for i, s := range scores {
		r := &results.Record{Task: "vmas/navigation", Seed: uint64(i + 1), Complete: true, Evals: []results.Eval{{Scores: []float64{s}, Success: []float64{0, 1, 1, 1}}}}
		if label != "mappo" {
			for k := range 20 { // only the last two count
				r.Scalars = map[string]results.Points{"cermic/kl": append(r.Scalars["cermic/kl"], results.Point{Frames: k, Value: float64(k / 18)})}
			}
		}
		g.Runs = append(g.Runs, r)
	}
	return g
}

func TestMemoriesAreNamedAfterThemselvesAndTheirStart(t *testing.T) {
	var rs []*results.Record
	ask := func(method string, seeds uint64, set ...string) {
		for seed := range seeds {
			rs = append(rs, recorded(t, plan.Request{Task: "navigation", Method: method, Budget: "short", Seed: seed + 1, Set: set}))
		}
	}
	ask("mappo", 3)
	ask("mappo", 1, "learner.lr=0.5")
	ask("mappo-cermic", 1, "explore.alpha=0.5")
	ask("mappo-cermic", 2, "explore.memory=mlp")
	ask("mappo-cermic", 1, "explore.memory=gru")
	ask("mappo-cermic", 1, "explore.memory=gru", "explore.memory.gru_layers=3") // another line
	ask("mappo-cermic", 1, "explore.memory=gru", "explore.memory.pretrain=full", "explore.memory.pretrained=0123456789abcdef")
	ask("mappo-cermic", 1, "explore.alpha=0.5", "explore.memory=mlp")
	ask("mappo-cermic", 1, "explore.alpha=0.5", "explore.lr=0.5")
	st := libtest.Committed(t, rs...)
	for changes, want := range map[string][]string{
		"":                  {"mappo 3", "gru explore.memory.gru_layers=2 1", "gru explore.memory.gru_layers=3 1", "gru, pre-trained: full 1", "mlp 2"},
		"explore.alpha=0.5": {"mappo 3", "graph 1", "mlp 1"}, // with α changed and nothing else
	} {
		var labels []string
		for _, g := range must.Get(Memories(st, "navigation", "mappo", "short", strings.Fields(changes)...))(t) {
			labels = append(labels, fmt.Sprint(g.Label, " ", len(g.Runs)))
		}
		if !slices.Equal(labels, want) {
			t.Errorf("the runs with %q are of %q, want %q", changes, labels, want)
		}
	}
}

func TestComparisonIsWithTheFirstLabel(t *testing.T) {
	table := must.Get(Comparison([]results.Group{scoring("mappo", 1, 2, 3), scoring("graph", 11, 12, 13)}))(t)
	rows := table.Rows
	if len(rows) != 2 || !strings.HasPrefix(rows[0][2], "2 [") || rows[0][3] != "–" {
		t.Errorf("the first row is %q, want a mean of 2 and no difference", rows[0])
	}
	if !strings.HasPrefix(rows[1][3], "10 [") || rows[1][4] != "1 [1, 1]" || rows[1][5] != "75 %, 75 %, 75 %" {
		t.Errorf("the second row is %q, want a difference of 10 certain improvement, and three quarters of successes", rows[1])
	}
}

func TestDiagnosticsAreThoseOfTheEndAndOfCERMICAlone(t *testing.T) {
	v := Diagnostics([]results.Group{scoring("mappo", 1), scoring("graph", 11, 12)})
	at := slices.Index(v.Header, "KL / d_x")
	if len(v.Rows) != 1 || v.Rows[0][0] != "graph" || v.Rows[0][at] != "1" || v.Rows[0][1] != "–" {
		t.Errorf("got %q, want one row of graph with a KL of 1 and nothing else known", v.Rows)
	}
}

func TestMechanismsSayWhatIsActive(t *testing.T) {
	run := func(before, calib float64) results.Group {
		return results.Group{Label: "graph", Runs: []*results.Record{{Task: "vmas/flocking", Scalars: map[string]results.Points{
			"cermic/context_before": {{Value: 1}, {Value: before}}, "cermic/calib_std": {{Value: 1}, {Value: calib}}}}}}
	}
	got := Mechanisms([]results.Group{run(0.5, 0.1), run(0.01, 0.1), run(0.5, 0.0001), scoring("mappo", 1)}).Rows
	want := []string{"vmas/flocking", "graph", "0.5", "–", "–", "–", "–", "0.1", "yes"}
	if len(got) != 3 || !slices.Equal(got[0], want) || got[1][8] != "no" || got[2][8] != "no" {
		t.Errorf("got %q, want %q first, and two that are not active", got, want)
	}
}
