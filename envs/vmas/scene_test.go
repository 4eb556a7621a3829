// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"strings"
	"testing"

	"cermic/envs"
)

// A picture holds every agent, wherever it has gone, and what its task is about.
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
		cfg, err := envs.Default(name)
		if err != nil {
			t.Fatal(err)
		}
		e := buildCopies(t, cfg, 1)
		e.Step(envs.NewActions(e.Spec()), envs.NewStep(e.Spec()))
		w := e.world
		w.Place(0, w.Agent(e.policy[0]), Vec{7, -3})
		count := map[envs.Role]int{}
		scene := e.Scene(0)
		for _, s := range scene.Shapes {
			count[s.Role]++
			if s.Role == envs.RoleAgent && (s.X < scene.MinX || s.X > scene.MaxX || s.Y < scene.MinY || s.Y > scene.MaxY) {
				t.Errorf("%s: agent %d at (%g, %g) is outside of the picture", name, s.Agent, s.X, s.Y)
			}
		}
		if count[envs.RoleAgent] != e.spec.Agents {
			t.Errorf("%s: %d agents drawn, want %d", name, count[envs.RoleAgent], e.spec.Agents)
		}
		for role, n := range want[strings.TrimPrefix(name, "vmas/")] {
			if count[role] != n {
				t.Errorf("%s: %d shapes of role %s, want %d", name, count[role], role, n)
			}
		}
	}
}
