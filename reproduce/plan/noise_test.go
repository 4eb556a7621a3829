// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"

	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
)

func TestNoiseCurvesTakeTheRunsOfTheirSettings(t *testing.T) {
	st, err := results.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	box := []string{"task.noise.width=1", "task.noise.height=1", "task.noise.scale=1"}
	tiny := []string{"budget.frames=1000", "learner.critic_hidden=8", "policy.hidden=8"}
	es, err := Grid([]string{"vmas/ball_trajectory"}, []string{"mappo"}, "smoke", 1, append(box, tiny...)...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Run(t.Context(), es[0], st); err != nil {
		t.Fatal(err)
	}
	noisy, err := stored(st, "vmas/ball_trajectory", "mappo", "smoke", 2, append(box, tiny...))
	if err != nil || len(noisy) != 1 || noisy[0].Method != "mappo" {
		t.Errorf("with the box %d runs, %v; want the one", len(noisy), err)
	}
	if calm, err := stored(st, "vmas/ball_trajectory", "mappo", "smoke", 2, tiny); err != nil || len(calm) != 0 {
		t.Errorf("without it %d runs, %v; want none", len(calm), err)
	}
	panels, err := NoiseCurves(st, []string{"vmas/ball_trajectory"}, []string{"mappo"}, "smoke", 1, append(box, tiny...), nil)
	if err != nil || len(panels.Rows) != 1 || len(panels.Rows[0]) != 2 || panels.Rows[0][0].Y.Min != panels.Rows[0][1].Y.Min {
		t.Errorf("%+v, %v", panels.Rows, err)
	}
}

// α and memory are knobs of one method among others that do not have them.
func TestKnobsOfTheNoiseFigureAreThoseOfCERMIC(t *testing.T) {
	es, err := NoiseGrid([]string{"vmas/ball_trajectory"}, []string{"mappo", "mappo-cermic"}, "smoke", 1, []string{"task.noise.width=1", "task.noise.height=1", "task.noise.scale=1"}, []string{"explore.alpha=0.5"})
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, e := range es {
		labels = append(labels, e.Label())
	}
	const box = " task.noise.height=1 task.noise.scale=1 task.noise.width=1"
	want := []string{"mappo", "mappo-cermic explore.alpha=0.5", "mappo" + box, "mappo-cermic explore.alpha=0.5" + box}
	if !slices.Equal(labels, want) {
		t.Errorf("experiments %q, want %q", labels, want)
	}
}
