// SPDX-License-Identifier: Apache-2.0

package vmas

import "testing"

// Scripts also succeed with walls, controllers, goals and fields other than the default ones.
func TestScriptsSucceedWithOtherSettings(t *testing.T) {
	const numEnvs = 32
	for _, c := range []struct {
		settings string
		want     int // smallest number of successes in 32 episodes
	}{
		{`{"kind":"vmas/give_way","mirror_passage":true}`, 32},
		{`{"kind":"vmas/give_way","a_range":0.2}`, 32},
		{`{"kind":"vmas/give_way","a_range":3,"v_range":1}`, 32},
		{`{"kind":"vmas/give_way","v_range":0.2}`, 32}, // the sparse horizon grows
		{`{"kind":"vmas/navigation","n_agents":6,"collisions":false,"agents_with_same_goal":3,"split_goals":true}`, 32},
		{`{"kind":"vmas/navigation","n_agents":2,"world_spawning_x":1.5,"world_spawning_y":0.4,"n_lidar_rays":0}`, 32},
		{`{"kind":"vmas/sampling","xdim":0.5,"ydim":0.8,"grid_spacing":0.1,"agent_radius":0.04}`, 32},
		{`{"kind":"vmas/sampling","agent_radius":0.2,"norm":false,"cov":[0.02,0.05,0.1]}`, 32},
		{`{"kind":"vmas/flocking","min_dist_between_entities":0.3,"n_lidar_rays":3,"dist_shaping_factor":2}`, 10},
		{`{"kind":"vmas/transport","n_agents":2,"package_width":0.3,"package_length":0.1,"package_mass":1}`, 32},
		{`{"kind":"vmas/transport","n_packages":2,"package_width":0.2,"package_length":0.1,"package_mass":4}`, 28},
	} {
		e := buildNumEnvs(t, configOf(t, c.settings), numEnvs)
		if count := successes(t, e, e.spec.Horizon); count < c.want {
			t.Errorf("%s: %d of %d episodes succeed, want %d", c.settings, count, numEnvs, c.want)
		}
	}
}

// With or without rods, the script's return is higher than random play's.
func TestBallTrajectoryScriptsEarnWithOtherSettings(t *testing.T) {
	for _, settings := range []string{
		`"joints":true`, `"joints":false`, `"joints":false,"dist_shaping_factor":1`,
	} {
		cfg := configOf(t, `{"kind":"vmas/ball_trajectory",`+settings+`}`)
		random, _ := playOnce(t, cfg, false)
		scripted, _ := playOnce(t, cfg, true)
		if scripted < 0.05 || scripted < random+0.05 {
			t.Errorf("%s: the script's return is %.3f, random play's %.3f", settings, scripted, random)
		}
	}
}
