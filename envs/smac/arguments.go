// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Arguments are constructor arguments of SMACv2 that both tasks leave alone. Each is left out of JSON where it has the benchmark's
// value, so that older configs keep their identity.
type Arguments struct {
	LoopsPerStep int     `json:"step_mul" conf:"omitdefault" range:"1..1000" help:"game loops per step, of which 22.4 make a second; SMACv2: 8"`
	MoveAmount   float64 `json:"move_amount" conf:"omitdefault" range:"(0..32]" help:"distance of a move, in cells; the first half must be free"`
	MinAttack    float64 `json:"min_attack_range" conf:"omitdefault" help:"least shooting range of a unit type, in cells; with use_unit_ranges"`
	Difficulty   string  `json:"difficulty" conf:"omitdefault" oneof:"1,2,3,4,5,6,7,8,9,A" help:"level of the computer player; no effect on this map"`

	// What SMACv2 calls capability_config: whom teams are made of, and where they start.
	Weights    [3]float64 `json:"team_weights,omitzero" help:"probability of each unit type, in observation order; 0,0,0: the benchmark's"`
	Exceptions string     `json:"exception_unit_types,omitzero" help:"unit types that no team consists of alone; empty: the benchmark's, none: no exceptions"`
	Start      string     `json:"start_positions" conf:"omitdefault" oneof:"surrounded_and_reflect,fixed" help:"start of teams; surrounded_and_reflect: one of both at random, fixed: each team on one point"`
	StartP     float64    `json:"start_positions_p" conf:"omitdefault" range:"0..1" help:"probability, that teams start face to face; with surrounded_and_reflect"`
}

// DefaultArguments returns what SMACv2's constructor and the configs of 5 against 5 have.
//
// From: oxwhirl/smacv2, smacv2/env/starcraft2/starcraft2.py and smacv2/examples/configs, 577ab5a
func DefaultArguments() Arguments {
	return Arguments{LoopsPerStep: 8, MoveAmount: 2, MinAttack: 2, Difficulty: "7", Start: SurroundedAndReflect, StartP: 0.5}
}

// The ways to start an episode.
const (
	SurroundedAndReflect = "surrounded_and_reflect" // one of the two by chance
	FixedStart           = "fixed"                  // SMACv2 without start_positions: each team on one point
)

// difficulties are the names of the computer player's levels, weakest first.
var difficulties = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "A"}

// noExceptions lets teams be of any types.
const noExceptions = "none"

// wantMove refuses moves of nowhere, and broken ones where the ground is perceived: its points are cells, a and 2a away.
func (a *Arguments) wantMove(task string, s *Settings) error {
	if m := a.MoveAmount; m != math.Trunc(m) && (s.ObsPathing || s.ObsHeight) {
		return fmt.Errorf("%s: move_amount is %g, want a whole number with obs_pathing_grid or obs_terrain_height", task, m)
	}
	return nil
}

// wantTeams refuses weights that are no probabilities, types of another race, and teams that would be drawn for ever.
func (a *Arguments) wantTeams(task string, r *race) error {
	sum := 0.0
	for _, w := range a.Weights {
		if !(w >= 0) {
			sum = math.NaN()
		}
		sum += w
	}
	if a.Weights != [3]float64{} && !(math.Abs(sum-1) <= 1e-8) {
		return fmt.Errorf("%s: team_weights are %v, want three numbers, 0 or more, that add up to 1", task, a.Weights)
	}
	never, err := r.exceptions(a.Exceptions)
	if err != nil {
		return fmt.Errorf("%s: %w", task, err)
	}
	teams := a.apply(r, never)
	for i, t := range teams.types {
		if teams.weights[i] > 0 && !teams.barred(t) {
			return nil
		}
	}
	return fmt.Errorf("%s: all types of team_weights %v are in exception_unit_types, so that no team could be drawn", task, teams.weights)
}

// exceptions reads exception_unit_types: the types that no team is made of alone.
func (r *race) exceptions(text string) ([]Type, error) {
	switch text {
	case "":
		return r.never, nil
	case noExceptions:
		return nil, nil
	}
	var never []Type
	var names []string
	for _, t := range r.types {
		names = append(names, t.String())
	}
	for name := range strings.SplitSeq(text, ",") {
		at := slices.Index(names, strings.TrimSpace(name))
		if at < 0 {
			return nil, fmt.Errorf("exception_unit_types is %q, want %s, or some of %s with commas between them", text, noExceptions, strings.Join(names, ", "))
		}
		never = append(never, r.types[at])
	}
	return never, nil
}

// teams are the race as the arguments, which are valid, change it.
func (a *Arguments) teams(r *race) *race {
	never, err := r.exceptions(a.Exceptions)
	if err != nil {
		panic("smac: " + err.Error()) // validate refuses it
	}
	return a.apply(r, never)
}

func (a *Arguments) apply(r *race, never []Type) *race {
	teams := *r
	teams.never = never
	if a.Weights != [3]float64{} {
		teams.weights = a.Weights[:]
	}
	return &teams
}
