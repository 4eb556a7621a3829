// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Arguments are arguments of SMACv2's constructor that have one value in both tasks. JSON omits an argument with the
// benchmark's value, so older configs keep their hash.
type Arguments struct {
	LoopsPerStep int     `json:"step_mul" conf:"omitdefault" range:"1..1000" help:"game loops per step, of which 22.4 make a second; SMACv2: 8"`
	MoveAmount   float64 `json:"move_amount" conf:"omitdefault" range:"(0..32]" help:"distance of a move, in cells; the first half must be free"`
	MinAttack    float64 `json:"min_attack_range" conf:"omitdefault" help:"least shooting range of a unit type, in cells; with use_unit_ranges"`
	Difficulty   string  `json:"difficulty" conf:"omitdefault" oneof:"1,2,3,4,5,6,7,8,9,A" help:"level of the computer player; no effect on this map"`

	// SMACv2's capability_config: unit types and starting positions.
	Weights    [3]float64 `json:"team_weights,omitzero" help:"probability of each unit type, in observation order; 0,0,0: the benchmark's"`
	Exceptions string     `json:"exception_unit_types,omitzero" help:"unit types that no team consists of alone; empty: the benchmark's, none: no exceptions"`
	Start      string     `json:"start_positions" conf:"omitdefault" oneof:"surrounded_and_reflect,fixed" help:"start of teams; surrounded_and_reflect: one of both at random, fixed: each team on one point"`
	StartP     float64    `json:"start_positions_p" conf:"omitdefault" range:"0..1" help:"probability that teams start face to face; with surrounded_and_reflect"`
}

// DefaultArguments returns the defaults of SMACv2's constructor and its configs for 5 against 5.
//
// From: oxwhirl/smacv2, smacv2/env/starcraft2/starcraft2.py and smacv2/examples/configs, 577ab5a
func DefaultArguments() Arguments {
	return Arguments{LoopsPerStep: 8, MoveAmount: 2, MinAttack: 2, Difficulty: "7", Start: SurroundedAndReflect,
		StartP: 0.5}
}

// The distributions of starting positions.
const (
	SurroundedAndReflect = "surrounded_and_reflect" // one of the two at random
	FixedStart           = "fixed"                  // SMACv2 without start_positions: each team on one point
)

// difficulties are the levels of the computer player, weakest first.
var difficulties = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "A"}

// noExceptions allows teams of any types.
const noExceptions = "none"

// wantMove rejects a move_amount that is not whole if agents observe the terrain, whose points are 1 and 2 moves
// away.
func (a *Arguments) wantMove(task string, s *Settings) error {
	if m := a.MoveAmount; m != math.Trunc(m) && (s.ObsPathing || s.ObsHeight) {
		return fmt.Errorf("%s: move_amount is %g, want a whole number with obs_pathing_grid or obs_terrain_height", task, m)
	}
	return nil
}

// wantTeams rejects weights that are not probabilities, types of another race, and teams that can never be drawn.
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
	return fmt.Errorf("%s: all types of team_weights %v are in exception_unit_types, so no team can be drawn",
		task, teams.weights)
}

// exceptions parses exception_unit_types: the types that cannot form a team alone.
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
			return nil, fmt.Errorf("exception_unit_types is %q, want %s, or some of %s with commas between them",
				text, noExceptions, strings.Join(names, ", "))
		}
		never = append(never, r.types[at])
	}
	return never, nil
}

// teams returns the race with the weights and exceptions of the (valid) arguments.
func (a *Arguments) teams(r *race) *race {
	never, err := r.exceptions(a.Exceptions)
	if err != nil {
		panic("smac: " + err.Error()) // excluded by validate
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
