// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/nn"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
)

// The playground names a panel for each knob on which its effect shows within seconds.
func TestKnobsOfThePlaygroundMoveTheirPanels(t *testing.T) {
	if testing.Short() {
		t.Skip("trains four runs")
	}
	if _, err := nn.OpenConfig("xla:cpu"); err != nil {
		t.Skip("the Go backend takes minutes: ", err)
	}
	t.Setenv("GOMLX_BACKEND", "xla:cpu")
	last := func(scalar string, set ...string) float64 {
		e, err := plan.New(plan.Request{Task: "explore/lock", Method: "mappo-cermic-ucb", Budget: "explore", Seed: 1,
			Set: append(set, "task.tv=screen", "budget.frames=6000", "budget.eval_every=6000", "budget.eval_episodes=1")})
		must.Do(t, err)
		points := libtest.Train(t, e).Scalars[scalar]
		if len(points) == 0 {
			t.Fatalf("%v has no scalar %s", set, scalar)
		}
		return points[len(points)-1].Value
	}
	for _, knob := range []struct {
		panel, from, to string
		least           float64 // half of the measured change
	}{
		{"cermic/kl", "explore.alpha=0", "explore.alpha=1", 0.13},
		{"cermic/gamma_hi", "explore.memory=graph", "explore.memory=mlp", 0.04},
	} {
		if from, to := last(knob.panel, knob.from), last(knob.panel, knob.to); to-from < knob.least {
			t.Errorf("%s is %.3f at %s and %.3f at %s, want %g more", knob.panel, from, knob.from, to, knob.to, knob.least)
		}
	}
}
