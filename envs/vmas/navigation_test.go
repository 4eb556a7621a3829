// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"slices"
	"testing"

	"cermic/envs"
)

// Every agent has its own goal body; the goals of a group lie at one place. Groups are as specified: halves of all
// agents, or the first agents only.
func TestNavigationGoalsOfAGroupLieAtOnePlace(t *testing.T) {
	for _, c := range []struct {
		settings string
		groups   []int // index of the goal at the same place as each agent's goal
	}{
		{`"n_agents":4,"agents_with_same_goal":2,"split_goals":true`, []int{0, 0, 1, 1}},
		{`"n_agents":4,"agents_with_same_goal":2`, []int{0, 0, 2, 3}},
		{`"n_agents":5,"agents_with_same_goal":5`, []int{0, 0, 0, 0, 0}},
		{`"n_agents":6,"agents_with_same_goal":3,"split_goals":true`, []int{0, 0, 0, 1, 1, 1}},
		{`"n_agents":2,"split_goals":true`, []int{0, 1}},
		{`"n_agents":3,"agents_with_same_goal":1`, []int{0, 1, 2}},
	} {
		e := buildNumEnvs(t, configOf(t,
			`{"kind":"vmas/navigation","collisions":false,"observe_all_goals":true,`+c.settings+`}`), 20)
		alone := buildNumEnvs(t, configOf(t,
			`{"kind":"vmas/navigation","collisions":false,`+c.settings[:len(`"n_agents":4`)]+`}`), 20)
		out, act, n := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), e.spec.Agents
		e.Step(act, out)
		w := e.world
		for k := range 20 {
			for i, group := range c.groups {
				// A shared goal lies where the goal with that number lies without sharing.
				if w.Pos(k, i) != alone.world.Pos(k, group) {
					t.Errorf("%s: goal %d lies at %v, want %v", c.settings, i, w.Pos(k, i), alone.world.Pos(k, group))
				}
				row := out.Obs[(k*n+1%n)*e.spec.Obs[0]:]
				want := w.Pos(k, w.Agent(1%n)).Sub(w.Pos(k, i))
				if got := (Vec{row[4+2*i], row[5+2*i]}); got != want {
					t.Errorf("%s: agent 1 observes goal %d at %v, want %v", c.settings, i, got, want)
				}
			}
			for i := range n { // all agents at their goals: done, with or without shared goals
				w.Place(k, w.Agent(i), w.Pos(k, i))
			}
		}
		e.Step(act, out)
		if slices.Contains(out.Terminated, 0) || !near(out.Dense[0]-e.term(0, "pos_rew")[0], 0.01) {
			t.Errorf("%s: with all agents at their goals, the episode goes on or the reward is wrong: %g",
				c.settings, out.Dense[0])
		}
	}
}

func TestNavigationPaysByItsFactors(t *testing.T) {
	for _, shared := range []string{"true", "false"} {
		base := `{"kind":"vmas/navigation","n_agents":4,"world_spawning_x":0.6,"world_spawning_y":0.6,"shared_rew":` +
			shared + `}`
		hits := 0
		more := `{"pos_shaping_factor":2.5,"final_reward":0.5,"agent_collision_penalty":-0.3}`
		twins(t, base, more, 200, func(a, b *env, x, y *envs.Step) {
			if !slices.Equal(x.Obs, y.Obs) {
				t.Fatal("reward factors change the states")
			}
			for row, got := range y.Dense {
				c, i := row/4, row%4
				collisions := a.term(c, "agent_collisions")[i]
				want := 2.5*a.term(c, "pos_rew")[i] + 50*a.term(c, "final_rew")[0] + 0.3*collisions
				if !near(got, want) {
					t.Fatalf("agent %d gets reward %g, want %g", i, got, want)
				}
				if collisions != 0 {
					hits++
				}
			}
		})
		if hits == 0 {
			t.Error("no agents touch, so the test is void")
		}
	}
}

// The communication range changes the scene only.
func TestCommunicationShowsInPicturesOnly(t *testing.T) {
	for _, base := range []string{`{"kind":"vmas/navigation"}`, `{"kind":"vmas/sampling"}`} {
		lines := [2]int{}
		twins(t, base, `{"comms_range":0.8}`, 60, func(a, b *env, x, y *envs.Step) {
			if !slices.Equal(x.Obs, y.Obs) || !slices.Equal(x.Dense, y.Dense) {
				t.Fatal("the communication range changes the task")
			}
			for k, e := range []*env{a, b} {
				for _, s := range e.Scene(0).Shapes {
					if s.Role == envs.RoleJoint {
						lines[k]++
						if s.Width > 0.8 {
							t.Errorf("a line has length %g", s.Width)
						}
					}
				}
			}
		})
		if lines[0] != 0 || lines[1] == 0 {
			t.Errorf("%s: %d lines without a range, %d with one", base, lines[0], lines[1])
		}
	}
}

// With enforce_bounds, centres stay within the field; without it, agents leave it.
func TestNavigationEnforcesBoundsIfSoSet(t *testing.T) {
	outside := 0
	base := `{"kind":"vmas/navigation","world_spawning_x":0.7,"world_spawning_y":0.4}`
	twins(t, base, `{"enforce_bounds":true}`, 100, func(a, b *env, _, _ *envs.Step) {
		leaves := func(e *env) (count int) {
			for c := range e.spec.NumEnvs {
				for i := range e.spec.Agents {
					if p := e.world.Pos(c, e.world.Agent(i)); abs(p.X) > 0.7 || abs(p.Y) > 0.4 {
						count++
					}
				}
			}
			return count
		}
		outside += leaves(a)
		if leaves(b) != 0 {
			t.Error("an agent is out of bounds")
		}
	})
	if outside == 0 {
		t.Error("no agent leaves the field, so the test is void")
	}
}

// The number and range of rays follow the settings; a single ray points along x.
func TestNavigationRaysAreAsSet(t *testing.T) {
	for rays, obs := range map[int]int{0: 6, 1: 7, 4: 10} {
		cfg := DefaultNavigation()
		cfg.Agents, cfg.LidarRays, cfg.LidarRange = 2, rays, 0.5
		e := buildNumEnvs(t, cfg, 1)
		if e.spec.Obs[0] != obs || e.spec.Entities[0].To != obs {
			t.Fatalf("%d rays make %d numbers, want %d", rays, e.spec.Obs[0], obs)
		}
		e.world.Place(0, e.world.Agent(0), Vec{0, 0})
		e.world.Place(0, e.world.Agent(1), Vec{0, -0.4})
		row := make([]float32, obs)
		e.task.Observe(e.world, 0, 0, row)
		for k, x := range row[6:] {
			want := float32(0)
			if k == 3 { // 3/4 of a turn: down, 0.3 to the other agent's surface
				want = 0.2
			}
			if abs(x-want) > 1e-6 {
				t.Errorf("ray %d of %d is %g, want %g", k, rays, x, want)
			}
		}
	}
}
