// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cermic/envs/conf"
	"cermic/envs/rng"
)

// arguments are recorded arguments of SMACv2's constructor, by name.
type arguments map[string]json.RawMessage

// Arguments of SMACv2's constructor without a setting of the same name.
var (
	silent = []string{ // no effect on recorded data; continuing_episode is compared with the step's information
		"game_version", "seed", "debug", "replay_dir", "replay_prefix", "window_size_x", "window_size_y",
		"kill_unit_step_mul", "continuing_episode",
	}
	fixed = map[string]bool{ // arguments with one supported value
		"obs_instead_of_state": false, "obs_starcraft": true, "fully_observable": false, "heuristic_ai": false,
		"heuristic_rest": false,
	}
)

// capability is capability_config: teams, positions and masks.
type capability struct {
	Agents  int `json:"n_units"`
	Enemies int `json:"n_enemies"`
	Team    *struct {
		Kind       string   `json:"dist_type"`
		Agents     int      `json:"n_units"`
		Enemies    int      `json:"n_enemies"`
		Types      []string `json:"unit_types"`
		Weights    []float64
		Exceptions []string `json:"exception_unit_types"`
		Observe    bool
	} `json:"team_gen"`
	Start *struct {
		Kind    string `json:"dist_type"`
		Agents  int    `json:"n_units"`
		Enemies int    `json:"n_enemies"`
		P       float64
		X       int `json:"map_x"`
		Y       int `json:"map_y"`
	} `json:"start_positions"`
	Mask *struct {
		Kind  string  `json:"dist_type"`
		Shows float64 `json:"mask_probability"`
	} `json:"enemy_mask"`
}

// settings converts the arguments to settings, or returns an error that names the first unsupported one.
func (a arguments) settings() (s Settings, r *race, err error) {
	s, rest := DefaultSettings(), map[string]json.RawMessage{}
	for name, value := range a {
		want, only := fixed[name]
		switch {
		case name == "map_name" || name == "capability_config" || slices.Contains(silent, name):
		case only && string(value) != fmt.Sprint(want):
			return s, nil, fmt.Errorf("argument %s is %s, want %v", name, value, want)
		case !only:
			rest[name] = value
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
	in := json.NewDecoder(bytes.NewReader(a["capability_config"]))
	in.DisallowUnknownFields()
	if err := in.Decode(&c); err != nil {
		return s, nil, fmt.Errorf("capability_config: %w", err)
	}
	return s, r, c.apply(&s, r)
}

func (c *capability) apply(s *Settings, r *race) error {
	s.Agents, s.Enemies, s.Start = c.Agents, c.Enemies, FixedStart
	if c.Team == nil || c.Team.Kind != "weighted_teams" {
		return fmt.Errorf("capability_config.team_gen is %+v, want weighted_teams", c.Team)
	}
	s.ObsTypes = c.Team.Observe
	for i, name := range c.Team.Types {
		bit := slices.IndexFunc(r.types, func(t Type) bool { return t.String() == name })
		if bit < 0 {
			return fmt.Errorf("capability_config.team_gen.unit_types has %q, want a type of %s", name, r.name)
		}
		s.Weights[bit] = c.Team.Weights[i]
	}
	if s.Exceptions = noExceptions; len(c.Team.Exceptions) > 0 {
		s.Exceptions = strings.Join(c.Team.Exceptions, ",")
	}
	if p := c.Start; p != nil {
		if s.Start, s.StartP = p.Kind, p.P; p.X != mapSide || p.Y != mapSide {
			return fmt.Errorf("capability_config.start_positions is for a map of %d × %d, want %d × %d",
				p.X, p.Y, mapSide, mapSide)
		}
	}
	if m := c.Mask; m != nil {
		if s.EnemyMask = 1 - m.Shows; m.Kind != "mask" {
			return fmt.Errorf("capability_config.enemy_mask is %+v, want a mask", *m)
		}
	}
	return nil
}

// Teams consist of the given types, exceptions apply, and starting positions follow the settings.
func TestTeamsAndStartsAreThoseOfTheArguments(t *testing.T) {
	s := DefaultSettings()
	s.Agents, s.Enemies, s.Start = 2, 2, FixedStart
	s.Weights, s.Exceptions = [3]float64{0.5, 0, 0.5}, "zergling, baneling"
	if err := s.validate("smac/test", &zergRace); err == nil || !strings.Contains(err.Error(), "exception_unit_types") {
		t.Errorf("error %v, want one about teams that cannot be drawn", err)
	}
	counts, chance := map[[2]Type]int{}, rng.New(1, "teams")
	for _, exceptions := range []string{noExceptions, "zergling"} {
		s.Exceptions = exceptions
		k := newRules(s, &zergRace)
		l := newLineup(k)
		for range 400 {
			l.draw(k, chance)
			counts[[2]Type(l.Types[:2])]++
			if want := [2]float32{8, 16}; l.At[0] != want || l.At[1] != want || l.At[2] != [2]float32{24, 16} ||
				l.At[3] != [2]float32{24, 16} {
				t.Fatalf("units start at %v", l.At)
			}
		}
		zerglings := counts[[2]Type{Zergling, Zergling}]
		if got, want := zerglings > 0, exceptions == noExceptions; got != want || len(counts) != 3+count(want) {
			t.Errorf("exceptions %q: teams %v", exceptions, counts)
		}
		clear(counts)
	}
	s.Start = SurroundedAndReflect
	for p, want := range map[float64]int{0: 0, 1: 400} { // fraction of starts face to face
		s.StartP = p
		k, faced := newRules(s, &zergRace), 0
		l := newLineup(k)
		for range 400 {
			l.draw(k, chance)
			faced += count(l.At[0] != [2]float32{16, 16})
		}
		if faced != want {
			t.Errorf("start_positions_p=%g: %d of 400 episodes start face to face, want %d", p, faced, want)
		}
	}
}

// The distance of a step scales with step_mul; weapons and the map's script do not depend on it.
func TestStepMulIsTheLoopsOfAStep(t *testing.T) {
	walk := func(loops int, steps int) float32 {
		s := DefaultSettings()
		s.Agents, s.Enemies, s.LoopsPerStep = 1, 1, loops
		k := newRules(s, &zergRace)
		sim := newSimulator(k, rng.New(1, "walk"))
		seen, _ := sim.Deploy(&Lineup{Agents: 1, Types: []Type{Baneling, Baneling}, At: [][2]float32{{2, 2}, {30, 30}}}, nil)
		from := seen[0].X
		for range steps {
			seen, _ = sim.Play([]Command{{Verb: Move, Tag: 1, X: 30, Y: seen[0].Y}}, seen)
		}
		return seen[0].X - from
	}
	for loops, steps := range map[int]int{1: 16, 4: 4, 8: 2, 16: 1} {
		if got, want := walk(loops, steps), float32(16*2.5/gameSecond); got < want-1e-4 || got > want+1e-4 {
			t.Errorf("%d steps of %d loops: %g cells, want %g", steps, loops, got, want)
		}
	}
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
