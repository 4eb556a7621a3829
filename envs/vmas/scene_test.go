// SPDX-License-Identifier: Apache-2.0

package vmas

import (
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
		cfg := must.Value(envs.Default(name))
		e := buildNumEnvs(t, cfg, 1)
		e.Step(envs.NewActions(e.Spec()), envs.NewStep(e.Spec()))
		w := e.world
		w.Place(0, w.Agent(e.policy[0]), Vec{7, -3})
		count := map[envs.Role]int{}
		scene := e.Scene(0)
		for _, s := range scene.Shapes {
			count[s.Role]++
			if s.Role == envs.RoleAgent && (s.X < scene.MinX || s.X > scene.MaxX || s.Y < scene.MinY || s.Y > scene.MaxY) {
				t.Errorf("%s: agent %d at (%g, %g) is outside the scene", name, s.Agent, s.X, s.Y)
			}
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

// Scenes contain the bodies that settings add, in the sizes that they set.
func TestScenesGoBySettings(t *testing.T) {
	for _, c := range []struct {
		settings string
		half     Vec // smallest half size of the scene
		want     map[envs.Role]int
	}{
		{`{"kind":"vmas/give_way","mirror_passage":true}`, Vec{2.5, 0.7},
			map[envs.Role]int{envs.RoleTarget: 2, envs.RoleObstacle: 12}},
		{`{"kind":"vmas/dispersion","pos_range":2.5}`, Vec{2.5, 2.5}, map[envs.Role]int{envs.RoleTarget: 4}},
		{`{"kind":"vmas/navigation","n_agents":4,"collisions":false,"agents_with_same_goal":4,"world_spawning_y":3}`,
			Vec{3, 3},
			map[envs.Role]int{envs.RoleTarget: 4, envs.RoleSensor: 0}},
		{`{"kind":"vmas/navigation","n_lidar_rays":5}`, Vec{1, 1},
			map[envs.Role]int{envs.RoleTarget: 3, envs.RoleSensor: 15}},
		{`{"kind":"vmas/sampling","xdim":0.5,"ydim":2}`, Vec{2, 2}, map[envs.Role]int{envs.RoleTarget: 6}},
		{`{"kind":"vmas/simple_adversary","n_agents":5,"n_adversaries":3}`, Vec{1, 1}, map[envs.Role]int{envs.RoleTarget: 4}},
		{`{"kind":"vmas/flocking","n_obstacles":2,"n_lidar_rays":3}`, Vec{1, 1},
			map[envs.Role]int{envs.RoleObstacle: 2, envs.RoleSensor: 12}},
		{`{"kind":"vmas/transport","n_packages":3,"package_length":0.4}`, Vec{1.46, 1.46},
			map[envs.Role]int{envs.RoleObject: 3}},
		{`{"kind":"vmas/ball_trajectory","joints":false}`, Vec{1, 1},
			map[envs.Role]int{envs.RoleObject: 1, envs.RoleJoint: 0}},
	} {
		scene, count := buildNumEnvs(t, configOf(t, c.settings), 1).Scene(0), map[envs.Role]int{}
		for _, s := range scene.Shapes {
			count[s.Role]++
		}
		for role, n := range c.want {
			if count[role] != n {
				t.Errorf("%s: %d shapes of role %s, want %d", c.settings, count[role], role, n)
			}
		}
		x, y := float64(c.half.X), float64(c.half.Y)
		if scene.MinX > -x || scene.MaxX < x || scene.MinY > -y || scene.MaxY < y {
			t.Errorf("%s: the scene spans [%g, %g] by [%g, %g], want ±%g by ±%g",
				c.settings, scene.MinX, scene.MaxX, scene.MinY, scene.MaxY, x, y)
		}
	}
}
