// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs/rng"

// stage is a part of a step in which players act in random order.
type stage uint8

// The stages.
const (
	stageMove  stage = iota
	stageFire        // the interaction or zap beam
	stageClean       // the cleaning beam
)

// rule is a random rule.
type rule uint8

// The rules.
const (
	ruleGrow  rule = iota // a resource or an apple appears at a site
	ruleFoul              // a clean site of the river gets dirty
	ruleClass             // an undecided resource is of the second class
	rulePhase             // the initial phase of the water, by cell
	ruleEnd               // the episode ends
)

// draws supplies all random outcomes of a step. It is an interface so that tests can replay recorded ones.
type draws interface {
	// order fills dst with the players in random order.
	order(s stage, dst []int8)
	// chance returns true with probability p. It is called once per rule and site in a step.
	chance(r rule, at int, p float64) bool
	// pick returns a number in [0, n).
	pick(r rule, at, n int) int
	// home returns one of the free cells, and a direction, for an arriving player.
	home(player int, free []int32) (int32, facing)
}

// dice draws from one random stream.
type dice struct{ rng.Rand }

func (d *dice) order(_ stage, dst []int8) {
	for i := range dst {
		j := d.IntN(i + 1)
		dst[i], dst[j] = dst[j], int8(i)
	}
}

func (d *dice) chance(_ rule, _ int, p float64) bool { return d.Float64() < p }

func (d *dice) pick(_ rule, _, n int) int { return d.IntN(n) }

func (d *dice) home(_ int, free []int32) (int32, facing) {
	return free[d.IntN(len(free))], facing(d.IntN(4))
}
