// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Runs are keyed by a hash of their settings, so a new setting must not appear in the JSON while it has its default.
func TestDefaultsKeepTheirIdentity(t *testing.T) {
	pinned := map[string]string{
		"vmas/balance":          "4510bf23d0f04f11",
		"vmas/ball_trajectory":  "c1ffc1b7c87929b8",
		"vmas/dispersion":       "4a342f9694a70de0",
		"vmas/flocking":         "df0f5816ed56539e",
		"vmas/give_way":         "3c7bf27bba70575b",
		"vmas/navigation":       "1cb4ba9dda795ed3",
		"vmas/passage":          "532e8d69cd11d557",
		"vmas/sampling":         "4be41da79739a71b",
		"vmas/simple_adversary": "189f326978f46a38", // since its groups train separately and its environments share a goal
		"vmas/transport":        "6f610bd376c1182f",
		"vmas/wheel":            "0f3b9c8fe54b9aa7",
	}
	for name, want := range pinned {
		cfg := must.Value(envs.Default(name))
		if id, err := conf.Hash(cfg); err != nil || id != want {
			t.Errorf("%s has the hash %s (%v), want %s", name, id, err, want)
		}
	}
}

// combined are combinations of keyword arguments that no recording covers.
var combined = []string{
	`{"kind":"vmas/balance","n_agents":7,"package_mass":0.5,"random_package_pos_on_line":false}`,
	`{"kind":"vmas/ball_trajectory","speed_shaping_factor":0.5,"pos_shaping_factor":2,"dist_shaping_factor":-1}`,
	`{"kind":"vmas/ball_trajectory","joints":false,"speed_shaping_factor":0,"pos_shaping_factor":1}`,
	`{"kind":"vmas/dispersion","n_agents":5,"n_food":3,"share_reward":false,"penalise_by_time":true,"pos_range":2.5,` +
		`"food_radius":0.1}`,
	`{"kind":"vmas/flocking","n_agents":6,"n_obstacles":0,"n_lidar_rays":5,"min_dist_between_entities":0.2,` +
		`"dist_shaping_factor":3}`,
	`{"kind":"vmas/flocking","n_agents":1,"n_obstacles":8,"n_lidar_rays":1,"min_dist_between_entities":0,` +
		`"collision_reward":1}`,
	`{"kind":"vmas/give_way","mirror_passage":true,"box_agents":true,"observe_rel_pos":true,"obs_noise":0.1,` +
		`"dt_delay":7,"v_range":0.8,` +
		`"a_range":2,"linear_friction":0,"pos_shaping_factor":5,"energy_rew_coeff":0.1,"agent_collision_penalty":-1,` +
		`"passage_collision_penalty":-0.5,"obstacle_collision_penalty":-0.25,"min_input_norm":0.3}`,
	`{"kind":"vmas/give_way","use_velocity_controller":false,"mirror_passage":true,"done_on_completion":true,` +
		`"dt_delay":3,"v_range":0.3,` +
		`"a_range":0.5,"linear_friction":0.4,"energy_rew_coeff":-1,"passage_collision_penalty":-2}`,
	`{"kind":"vmas/give_way","discrete":"product9","use_velocity_controller":false,"box_agents":true,"obs_noise":1}`,
	`{"kind":"vmas/give_way","discrete":"cross5","dt_delay":1,"min_input_norm":0,"final_reward":-1}`,
	`{"kind":"vmas/navigation","n_agents":6,"collisions":false,"agents_with_same_goal":3,"split_goals":true,` +
		`"observe_all_goals":true,` +
		`"enforce_bounds":true,"world_spawning_x":2,"world_spawning_y":0.7,"n_lidar_rays":3}`,
	`{"kind":"vmas/navigation","n_agents":4,"n_lidar_rays":0,"comms_range":1,"agent_collision_penalty":-2,` +
		`"final_reward":0,` +
		`"pos_shaping_factor":0,"shared_rew":true,"enforce_bounds":true,"agent_radius":0.05}`,
	`{"kind":"vmas/navigation","n_agents":2,"split_goals":true,"n_lidar_rays":30,"lidar_range":1,` +
		`"world_spawning_x":0.4,"world_spawning_y":0.5}`,
	`{"kind":"vmas/passage","n_passages":3,"shared_reward":false}`,
	`{"kind":"vmas/sampling","n_agents":4,"n_gaussians":2,"cov":[0.3,0.01],"xdim":0.5,"ydim":1.25,` +
		`"grid_spacing":0.125,"agent_radius":0.06,` +
		`"norm":false,"shared_rew":true,"comms_range":0.5,"lidar_range":1}`,
	`{"kind":"vmas/sampling","n_agents":1,"n_gaussians":1,"xdim":2,"ydim":0.1,"grid_spacing":0.1,"agent_radius":0.05}`,
	`{"kind":"vmas/simple_adversary","n_agents":6,"n_adversaries":4}`,
	`{"kind":"vmas/transport","n_agents":6,"n_packages":3,"package_width":0.3,"package_length":0.1,"package_mass":2}`,
	`{"kind":"vmas/transport","n_agents":1,"package_width":0.05,"package_length":0.6,"package_mass":0.5}`,
	`{"kind":"vmas/wheel","n_agents":1,"line_length":0.5,"line_mass":2,"desired_velocity":0.4}`,
}

// named shortens a combination to a test name.
func named(k int, overlay string) string {
	task := strings.TrimPrefix(overlay, `{"kind":"vmas/`)
	return fmt.Sprintf("%s-%d", task[:strings.IndexByte(task, '"')], k)
}

func configOf(t *testing.T, overlay string) envs.Config {
	t.Helper()
	var cfg envs.Config
	must.Do(t, conf.Unmarshal([]byte(overlay), &cfg))
	return cfg
}

func TestTasksKeepTheContractWithOtherSettings(t *testing.T) {
	for k, overlay := range combined {
		t.Run(named(k, overlay), func(t *testing.T) { envtest.Check(t, configOf(t, overlay)) })
	}
}

// twins builds a task twice, the second time with further settings. Both get the same random actions and reset when
// an episode of the first ends; show is called after every step.
func twins(t *testing.T, base, more string, steps int, show func(a, b *env, x, y *envs.Step)) {
	t.Helper()
	first, second := map[string]any{}, map[string]any{}
	for _, text := range []string{base, more} {
		must.Do(t, json.Unmarshal([]byte(text), &second))
		second["copies"], second["reward"] = 16, envs.Dense
		if len(first) == 0 {
			maps.Copy(first, second)
		}
	}
	a, b := buildOverlay(t, first, 3, 1), buildOverlay(t, second, 3, 1)
	x, y, act, r, done := envs.NewStep(a.Spec()), envs.NewStep(b.Spec()), envs.NewActions(a.Spec()),
		rng.New(5, "twins"), make([]uint8, 16)
	a.Reset(nil, x)
	b.Reset(nil, y)
	for step := range steps {
		draw(act, step, 2*a.spec.Agents, r)
		a.Step(act, x)
		b.Step(act, y)
		show(a, b, x, y)
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
		for c := range done {
			done[c] = x.Terminated[c] | x.Truncated[c]
		}
		a.Reset(done, x)
		b.Reset(done, y)
	}
}

// near compares two numbers up to some float32 roundings of their size, or of 1.
func near(x, y float32) bool { return math.Abs(float64(x-y)) <= 2e-6*(1+math.Abs(float64(y))) }

// term returns a named part of environment c's memory.
func (e *env) term(c int, name string) []float32 {
	from := 0
	for _, s := range e.world.spec.Memory {
		if s.Name == name {
			return e.world.Memory(c)[from : from+s.Len]
		}
		from += s.Len
	}
	return nil
}
