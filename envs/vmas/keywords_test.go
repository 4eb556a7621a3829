// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

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
