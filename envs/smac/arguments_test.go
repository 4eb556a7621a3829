// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"cermic/envs/conf"
)

// arguments are recorded arguments of SMACv2's constructor, by name.
type arguments map[string]json.RawMessage

// Arguments of SMACv2's constructor without a setting of the same name.
var (
	silent = []string{ // no effect on recorded data; continuing_episode is compared with the step's information
		"map_name", "capability_config", "game_version", "seed", "debug", "replay_dir", "replay_prefix", "window_size_x",
		"window_size_y", "kill_unit_step_mul", "continuing_episode",
	}
	fixed = map[string]string{ // arguments with one supported value
		"obs_instead_of_state": "false", "obs_starcraft": "true", "fully_observable": "false", "heuristic_ai": "false",
		"heuristic_rest": "false", "step_mul": "8", "difficulty": `"7"`,
	}
)

// capability is the part of capability_config that recordings depend on: they list teams and positions themselves.
type capability struct {
	Agents  int `json:"n_units"`
	Enemies int `json:"n_enemies"`
	Team    struct {
		Observe bool
	} `json:"team_gen"`
	Mask *struct {
		Shows float64 `json:"mask_probability"`
	} `json:"enemy_mask"`
}

// settings converts the arguments to settings, or returns an error that names the first unsupported one.
func (a arguments) settings() (s Settings, r *race, err error) {
	s, rest := DefaultSettings(), map[string]json.RawMessage{}
	for name, value := range a {
		switch want, only := fixed[name]; {
		case slices.Contains(silent, name):
		case !only:
			rest[name] = value
		case string(value) != want:
			return s, nil, fmt.Errorf("argument %s is %s, want %s", name, value, want)
		}
	}
	data, err := json.Marshal(rest)
	if err != nil {
		return s, nil, err
	}
	if err := conf.Unmarshal(data, &s); err != nil {
		return s, nil, fmt.Errorf("an unsupported argument: %w", err)
	}
	var name string
	if err := json.Unmarshal(a["map_name"], &name); err != nil {
		return s, nil, fmt.Errorf("map_name: %w", err)
	}
	for _, known := range []*race{&protossRace, &zergRace} {
		if name == "10gen_"+known.name {
			r = known
		}
	}
	if r == nil {
		return s, nil, fmt.Errorf("map_name is %q, want a map of the two tasks", name)
	}
	var c capability
	if err := json.Unmarshal(a["capability_config"], &c); err != nil {
		return s, nil, fmt.Errorf("capability_config: %w", err)
	}
	s.Agents, s.Enemies, s.ObsTypes = c.Agents, c.Enemies, c.Team.Observe
	if c.Mask != nil {
		s.EnemyMask = 1 - c.Mask.Shows
	}
	return s, r, nil
}

// obs_own_health=false has an effect only if obs_all_health=false hides the health of the others.
func TestOwnHealthIsHiddenOnlyWithThatOfOthers(t *testing.T) {
	for _, c := range []struct {
		all, own bool
		want     int
	}{{true, true, 92}, {true, false, 92}, {false, true, 92 - 9*2}, {false, false, 92 - 10*2}} {
		s := DefaultSettings()
		s.ObsAllHealth, s.ObsOwnHealth = c.all, c.own
		if got := newRules(s, &protossRace).obs; got != c.want {
			t.Errorf("obs_all_health=%v, obs_own_health=%v: %d numbers, want %d", c.all, c.own, got, c.want)
		}
	}
}
