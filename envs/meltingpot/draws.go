// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs/rng"

// stage is a part of a step in which players take turns in a random order.
type stage uint8

// The stages.
const (
	stageMove  stage = iota
	stageFire        // the interaction beam, or the zapper
	stageClean       // the cleaning beam
)

// rule is a rule that depends on chance.
type rule uint8

// The rules.
const (
	ruleGrow  rule = iota // a site becomes a resource or an apple
	ruleFoul              // the river gets dirty, at a clean site
	ruleClass             // a resource of either class is of the second
	rulePhase             // the phase of moving water, by cell
	ruleEnd               // the episode ends
)

// draws is all that is random in a step. It is an interface so that recorded outcomes can be played back.
type draws interface {
	// order fills dst with the players in a random order.
	order(s stage, dst []int8)
	// chance returns true with probability p; it is asked once for each rule and place in a step.
	chance(r rule, at int, p float64) bool
	// pick returns one of n numbers.
	pick(r rule, at, n int) int
	// home returns one of the free cells and a direction for a player that arrives.
	home(player int, free []int32) (int32, facing)
}

// dice are fair draws from one stream.
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
