// SPDX-License-Identifier: Apache-2.0

package vmas

import "testing"

// A rod spans the two bodies that it joins, whatever the order of its ends.
func TestRodsArePlacedBetweenTheirBodies(t *testing.T) {
	e := buildNumEnvs(t, DefaultBallTrajectory(), 50)
	w, sides := e.world, map[bool]int{}
	for c := range e.spec.NumEnvs {
		for i := range ballAgents {
			rod, agent, ball := w.Pos(c, 1+i), w.Pos(c, w.Agent(i)), w.Pos(c, 0)
			half := headingOf(w.Rot(c, 1+i)).Mul(ballRodLength / 2)
			// The tolerance is rounding.
			if from, to := rod.Sub(half).Sub(agent), rod.Add(half).Sub(ball); from.Norm() > 1e-6 || to.Norm() > 1e-6 {
				t.Errorf("environment %d: the ends of rod %d are %v and %v away from agent and ball", c, i, from, to)
			}
			if i == 0 {
				sides[agent.X < ball.X]++
			}
		}
	}
	if len(sides) != 2 {
		t.Error("the first agent always starts on the same side")
	}
}
