// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// A scene contains every agent, wherever it is, and the objects of the task.
func TestScenesHoldTheAgentsAndWhatTheyAreAfter(t *testing.T) {
	want := map[string]map[envs.Role]int{ // after one step
		"balance":          {envs.RoleTarget: 1, envs.RoleObject: 2, envs.RoleObstacle: 1},
		"ball_trajectory":  {envs.RoleObject: 1, envs.RoleJoint: 2},
		"dispersion":       {envs.RoleTarget: 4},
		"flocking":         {envs.RoleTarget: 1, envs.RoleObstacle: 5, envs.RoleSensor: 48},
		"give_way":         {envs.RoleTarget: 2, envs.RoleObstacle: 8},
		"navigation":       {envs.RoleTarget: 3, envs.RoleSensor: 36},
		"passage":          {envs.RoleTarget: 5, envs.RoleObstacle: 19},
		"sampling":         {envs.RoleTarget: 6, envs.RoleObstacle: 3, envs.RoleSensor: 36}, // rings and centres, cells
		"simple_adversary": {envs.RoleTarget: 2},
		"transport":        {envs.RoleTarget: 1, envs.RoleObject: 1},
		"wheel":            {envs.RoleTarget: 0, envs.RoleObject: 1, envs.RoleJoint: 1},
	}
	for _, name := range envs.Names() {
		e := buildNumEnvs(t, must.Value(envs.Default(name)), 1)
		e.Step(envs.NewActions(e.Spec()), envs.NewStep(e.Spec()))
		w := e.world
		w.Place(0, w.Agent(e.policy[0]), Vec{7, -3})
		count := map[envs.Role]int{}
		scene := e.Scene(0)
		for _, s := range scene.Shapes {
			if s.Role == envs.RoleAgent && (s.X < scene.MinX || s.X > scene.MaxX || s.Y < scene.MinY || s.Y > scene.MaxY) {
				t.Errorf("%s: agent %d at (%g, %g) is outside the scene", name, s.Agent, s.X, s.Y)
			}
			if s.Role == envs.RoleAgent && s.Agent != count[s.Role] {
				t.Errorf("%s: agent %d is drawn with the index %d", name, count[s.Role], s.Agent)
			}
			count[s.Role]++
		}
		if count[envs.RoleAgent] != e.spec.Agents {
			t.Errorf("%s: drew %d agents, want %d", name, count[envs.RoleAgent], e.spec.Agents)
		}
		for role, n := range want[strings.TrimPrefix(name, "vmas/")] {
			if count[role] != n {
				t.Errorf("%s: %d shapes of role %s, want %d", name, count[role], role, n)
			}
		}
	}
}

// Agents within the communication range are joined by lines.
func TestCommunicationShowsInPictures(t *testing.T) {
	for _, task := range []string{"navigation", "sampling"} {
		for within, least := range map[float64]int{0: 0, 0.8: 1} {
			e := buildNumEnvs(t, configOf(t, fmt.Sprintf(`{"kind":"vmas/%s","comms_range":%g}`, task, within)), 60)
			lines := 0
			for c := range 60 {
				for _, s := range e.Scene(c).Shapes {
					if s.Role == envs.RoleJoint {
						if lines++; s.Width > within {
							t.Errorf("%s: a line has length %g", task, s.Width)
						}
					}
				}
			}
			if lines < least {
				t.Errorf("%s: no lines in 60 scenes", task)
			}
		}
	}
}

// TestCoverageCountsSquaresOfThePackageOrOfTheAgents checks a grid of 20 × 20 squares from the upper left corner.
func TestCoverageCountsSquaresOfThePackageOrOfTheAgents(t *testing.T) {
	for _, c := range []struct {
		cfg  envs.Config
		body func(w *World) int
	}{
		{DefaultBalance(), func(*World) int { return balancePackage }},
		{DefaultTransport(), func(*World) int { return 1 }},
		{DefaultNavigation(), func(w *World) int { return w.Agent(0) }},
	} {
		e := buildNumEnvs(t, c.cfg, 2)
		cells, half := make([]int32, 2*e.spec.Agents), e.world.spec.HalfSize
		for _, p := range []struct {
			x, y float32
			want int32
		}{{-0.99, 0.99, 0}, {0.99, 0.99, 19}, {-0.99, -0.99, 380}, {0.99, -0.99, 399}, {0.01, -0.01, 210},
			{1.01, 0, -1}, {0, -1.01, -1}} {
			e.world.Place(1, c.body(e.world), Vec{p.x * half, p.y * half})
			e.Cover(cells)
			if got := cells[e.spec.Agents]; got != p.want {
				t.Errorf("%s: (%g, %g) is in square %d, want %d", c.cfg.Kind(), p.x, p.y, got, p.want)
			}
		}
	}
}
