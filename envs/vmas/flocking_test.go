// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"slices"
	"testing"

	"cermic/envs"
)

// A flock is a success unless one of its agents touches an obstacle.
func TestFlocksThatTouchAnObstacleAreNotPaid(t *testing.T) {
	e := buildNumEnvs(t, DefaultFlocking(), 1)
	out, act, w := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), e.world
	step := func(obstacle Vec, spread float32) float32 {
		for b := range w.landmarks {
			w.Place(0, b, Vec{-1, float32(b)})
		}
		w.Place(0, 0, obstacle)
		for i, place := range []Vec{{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}} { // the target, then agents
			w.Place(0, w.Agent(i), place.Mul(spread))
			w.vel[w.at(0, w.Agent(i))] = Vec{}
		}
		e.Step(act, out)
		return out.Sparse[0]
	}
	near := Vec{0.125 + 0.05 + 0.1 + 0.004, 0} // 0.004 from agent 0
	for i, part := range []struct {
		obstacle Vec
		spread   float32
		want     float32
	}{{near, 0.125, 0}, {Vec{1, 0}, 0.3, 0}, {Vec{1, 0}, 0.125, 10}, {Vec{1, 0}, 0.125, 0}} {
		if got := step(part.obstacle, part.spread); got != part.want {
			t.Errorf("part %d: agents in a ring of %g with an obstacle at %v get %g, want %g",
				i, part.spread, part.obstacle, got, part.want)
		}
	}
}

// The scripted target is drawn as a target, and the agents with their indices in a Step.
func TestFlockingDrawsItsTargetApartFromTheAgents(t *testing.T) {
	targets, agents := 0, []int(nil)
	for _, s := range buildNumEnvs(t, DefaultFlocking(), 1).Scene(0).Shapes {
		switch s.Role {
		case envs.RoleTarget:
			targets++
		case envs.RoleAgent:
			agents = append(agents, s.Agent)
		}
	}
	if targets != 1 || !slices.Equal(agents, []int{0, 1, 2, 3}) {
		t.Errorf("drew %d targets and agents %v, want 1 and 0 to 3", targets, agents)
	}
}
