// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// Each row is a setting of one task with a value that Build rejects.
func TestImpossibleTaskSettingsAreNamed(t *testing.T) {
	for _, row := range []struct{ task, key, value string }{
		{"balance", "max_steps", "0"}, {"balance", "discrete", `"prodct9"`}, {"balance", "sparse_horizon", `"short"`},
		{"balance", "success_reward", "0"}, {"balance", "milestones", "0"}, {"balance", "vmas_fov", "-1"},
		{"balance", "n_agents", "1"}, {"balance", "package_mass", "0"}, {"balance", "copies", "0"},
		{"dispersion", "milestones", "2"},                // its sparse reward is the original one
		{"flocking", "n_agents", "100"},                  // too many to place
		{"flocking", "n_agents", "13"},                   // too many for a flock, with the sparse reward
		{"flocking", "min_dist_between_entities", "0.9"}, // too far apart to place
		{"give_way", "min_input_norm", "0.6"},            // above v_range: every command counts as 0
		{"sampling", "cov", "0"},
		{"sampling", "cov", "[0.05,0.05]"},
		{"sampling", "cov", "[]"},
		{"sampling", "cov", "[0.05,0,0.05]"},
		{"sampling", "xdim", "0.02"}, // no whole number of cells
		{"sampling", "ydim", "0.6"},  // 0.6/0.05 is 11.999999999999998
		{"sampling", "grid_spacing", "0.3"},
		{"sampling", "grid_spacing", "0.001953125"}, // more than 512 cells a side
		{"sampling", "agent_radius", "1"},
		{"sampling", "collisions", "false"},
		{"sampling", "spawn_same_pos", "true"},
		{"simple_adversary", "n_adversaries", "3"},
		{"navigation", "n_agents", "60"},             // too many to place
		{"navigation", "agents_with_same_goal", "2"}, // they would collide
		{"navigation", "split_goals", "true"},        // not half of three agents
		{"navigation", "world_spawning_y", "0.01"},   // no room in a line
		{"transport", "n_agents", "60"},              // too many to leave room for the package
		{"wheel", "desired_velocity", "0.005"},       // a line at rest would be a success
	} {
		cfg := configOf(t, fmt.Sprintf(`{"kind":"vmas/%s",%q:%s}`, row.task, row.key, row.value))
		_, err := cfg.Build(1, 1)
		must.RefuseAs(t, err, cfg.Kind()+": ", row.key)
	}
}

// One step of a lone agent shows the force of each discrete action.
func TestChoicesPushWhereTheyShould(t *testing.T) {
	for _, set := range []struct {
		name Discrete
		want []Vec
	}{
		{Product9, []Vec{{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {-1, -1}, {-1, 1}, {1, 0}, {1, -1}, {1, 1}}},
		{Cross5, []Vec{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}},
	} {
		e := buildNumEnvs(t, DefaultBalance().WithDiscrete(set.name), 1)
		out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
		if e.Spec().Act.Choices != len(set.want) {
			t.Fatalf("%s has %d actions, want %d", set.name, e.Spec().Act.Choices, len(set.want))
		}
		for k, want := range set.want {
			act.Discrete[2] = int32(k)
			e.Step(act, out)
			if got := e.world.control[2]; got != want.Mul(0.7) {
				t.Errorf("%s: action %d exerts %v, want %v", set.name, k, got, want.Mul(0.7))
			}
		}
	}
}

// Actions beyond the range are clamped, as in BenchMARL.
func TestActionsAreClamped(t *testing.T) {
	e := buildNumEnvs(t, DefaultBalance(), 1)
	act := envs.NewActions(e.Spec())
	act.Continuous[0], act.Continuous[1] = 3, -0.5
	e.Step(act, envs.NewStep(e.Spec()))
	if got, want := e.world.control[0], (Vec{1, -0.5}).Mul(0.7); got != want {
		t.Errorf("action (3, -0.5) exerts %v, want %v", got, want)
	}
}

// A diverged policy is detected by its losses; until then the environment must continue.
func TestActionsThatAreNoNumbersDoNoHarmElsewhere(t *testing.T) {
	for _, name := range envs.Names() {
		cfg := must.Value(envs.Default(name))
		sick, sound := buildNumEnvs(t, cfg, 2), buildNumEnvs(t, cfg, 2)
		a, b, act := envs.NewStep(sick.Spec()), envs.NewStep(sound.Spec()), envs.NewActions(sick.Spec())
		for range 5 {
			clear(act.Continuous)
			sound.Step(act, b)
			act.Continuous[0], act.Continuous[1] = float32(math.NaN()), float32(math.NaN())
			sick.Step(act, a)
		}
		if half := len(a.Obs) / 2; !slices.Equal(a.Obs[half:], b.Obs[half:]) {
			t.Errorf("%s: an action in environment 0 changes the observations of environment 1", name)
		}
		sick.Reset(nil, a)
		checkFinite(t, a)
	}
}

func TestLabelsSeeWithinTheFieldOfViewOrOneBodyLength(t *testing.T) {
	for _, c := range []struct {
		fov, gap float32 // distance between the centres of agents 0 and 1
		want     uint8
	}{
		{0.5, 0.52, 1}, {0.5, 0.54, 0}, // view from the centre to the other's surface at gap − 0.03
		{0, 0.119, 1}, {0, 0.121, 0}, // surfaces at gap − 0.06, body length 0.06
	} {
		cfg := DefaultBalance()
		cfg.FieldOfView = c.fov
		e := buildNumEnvs(t, cfg, 1)
		out := envs.NewStep(e.Spec())
		e.world.Place(0, e.world.Agent(0), Vec{0.1, 0})
		e.world.Place(0, e.world.Agent(1), Vec{0.1, c.gap})
		e.label(0, out)
		n := e.spec.Agents
		if out.Visible[1] != c.want || out.Visible[n] != c.want {
			t.Errorf("field of view %g, distance %g: visible %d and %d, want %d",
				c.fov, c.gap, out.Visible[1], out.Visible[n], c.want)
		}
		if out.RelPos[2] != 0 || out.RelPos[3] != c.gap || out.RelPos[2*n+1] != -c.gap {
			t.Errorf("relative positions %v and %v, want ±%g upwards", out.RelPos[2:4], out.RelPos[2*n:2*n+2], c.gap)
		}
	}
}
