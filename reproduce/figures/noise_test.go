// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"math"
	"slices"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func TestNoiseCurvesTakeTheRunsOfTheirSettings(t *testing.T) {
	st := libtest.Store(t)
	box := []string{"task.noise.width=1", "task.noise.height=1", "task.noise.scale=1"}
	tiny := []string{"budget.frames=1000", "learner.critic_hidden=8", "policy.hidden=8"}
	set := append(box, tiny...)
	es := must.Get(plan.Grid([]string{"vmas/ball_trajectory"}, []string{"mappo"}, "smoke", 1, set...))(t)
	must.Get(experiment.Run(t.Context(), es[0], st))(t)
	n := Noise{Tasks: []string{"vmas/ball_trajectory"}, Methods: []string{"mappo"}, Region: set,
		Budget: "smoke", Seeds: 2}
	runs := must.Get(must.Get(n.sweep())(t).tasks[0].runs(st))(t)
	without, with := runs[0], runs[1]
	if len(without) != 1 || len(with) != 1 || len(without[0].Runs) != 0 || len(with[0].Runs) != 1 || with[0].Label != "mappo" {
		t.Fatalf("runs %+v without and with the noise region, want none and the one", runs)
	}
	panels, err := n.Curves(st)
	if err != nil || len(panels.Rows) != 1 || len(panels.Rows[0]) != 2 || panels.Rows[0][0].Y.Min != panels.Rows[0][1].Y.Min {
		t.Errorf("%+v, %v", panels.Rows, err)
	}
	table, err := n.Table(st)
	want := []string{"ball_trajectory", "mappo", "0, 1", viz.Missing, number(with[0].Runs[0].Score()), viz.Missing, viz.Missing, viz.Missing}
	if err != nil || len(table.Rows) != 1 || !slices.Equal(table.Rows[0], want) {
		t.Errorf("%q, %v, want %q", table.Rows, err, want)
	}
}

// Of two runs, 2 and 4 apart in the second half of training, and one that is shorter.
func TestStandardDeviationOverSeedsByHand(t *testing.T) {
	run := func(scores ...float64) *results.Record {
		r := &results.Record{Frames: 400}
		for k, score := range scores {
			r.Evals = append(r.Evals, results.Eval{Frames: 100 * (k + 1), Scores: []float64{score - 1, score + 1}})
		}
		return r
	}
	a, b := run(0, 0, 1, 1), run(9, 9, 3, 5)
	if got, want := seedDeviation([]*results.Record{a, b}), (2+4)/2/math.Sqrt2; math.Abs(got-want) > 1e-12 {
		t.Errorf("two runs are %g apart, want %g", got, want)
	}
	if got, want := seedDeviation([]*results.Record{a, b, run(0, 0, 2)}), 1.0; math.Abs(got-want) > 1e-12 {
		t.Errorf("with a shorter one they are %g apart, want %g", got, want)
	}
	if got := seedDeviation([]*results.Record{a}); !math.IsNaN(got) {
		t.Errorf("one run is %g apart", got)
	}
}

// α and memory are knobs of one method among others that do not have them.
func TestSettingsOfTheNoiseFigureAreThoseOfCERMIC(t *testing.T) {
	n := Noise{Tasks: []string{"vmas/ball_trajectory"}, Methods: []string{"mappo", "mappo-cermic"},
		Region: []string{"task.noise.width=1", "task.noise.height=1", "task.noise.scale=1"},
		Set:    []string{"explore.alpha=0.5"}, Budget: "smoke", First: 21, Seeds: 1}
	es := must.Get(n.Experiments())(t)
	var labels []string
	for _, e := range es {
		if labels = append(labels, e.Label()); e.Seed != 21 {
			t.Errorf("%s has seed %d, want 21", e.Label(), e.Seed)
		}
	}
	const box = " task.noise.height=1 task.noise.scale=1 task.noise.width=1"
	want := []string{"mappo", "mappo-cermic explore.alpha=0.5", "mappo" + box, "mappo-cermic explore.alpha=0.5" + box}
	if !slices.Equal(labels, want) {
		t.Errorf("experiments %q, want %q", labels, want)
	}
}
