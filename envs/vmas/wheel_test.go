// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"testing"

	"cermic/envs"
)

// Nine steps at the right speed and a wrong one give no reward; ten consecutive steps do, in either direction, but
// only once.
func TestWheelPaysForHoldingTheSpeedNotForPassingThroughIt(t *testing.T) {
	e := buildNumEnvs(t, DefaultWheel(), 1)
	out, act, w := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), e.world
	for i := range e.spec.Agents {
		w.Place(0, w.Agent(i), Vec{3, float32(i)}) // out of reach
	}
	turn := func(speed float32, steps int) (paid float32) {
		for range steps {
			w.spin[wheelLine] = speed / w.body[wheelLine].keep
			e.Step(act, out)
			paid += out.Sparse[0]
		}
		return paid
	}
	for i, part := range []struct {
		speed float32
		steps int
		want  float32
	}{{0.045, 9, 0}, {0.061, 1, 0}, {0.045, 9, 0}, {0.039, 1, 0}, {-0.055, 9, 0}, {-0.045, 1, 10}, {0.05, 30, 0}} {
		if got := turn(part.speed, part.steps); got != part.want {
			t.Errorf("part %d: %d steps at speed %g give %g, want %g", i, part.steps, part.speed, got, part.want)
		}
	}
}
