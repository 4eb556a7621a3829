// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"

	"cermic/envs"
)

// The actions of an agent. Look actions (with a conic view) follow the moves; attacks follow the look actions.
const (
	actNone  = iota // dead agents only
	actStop         //
	actNorth        // +y
	actSouth        // −y
	actEast         // +x
	actWest         // −x
	actLook         // first look action or, without a cone, first attack
)

// Constants of the interface. From: oxwhirl/smacv2, smacv2/env/starcraft2/starcraft2.py, 577ab5a
const (
	loopsPerStep = 8 // game loops
	fixedSight   = 9 // without use_unit_ranges
	fixedShoot   = 6
)

// compass lists the directions of the four moves.
var compass = [4][2]float64{{0, 1}, {0, -1}, {1, 0}, {-1, 0}}

// rules are the settings and constants derived from them, shared by all environments.
type rules struct {
	Settings
	race   *race
	ground *Terrain // default, until a field has its own

	n, m    int // N agents and their enemies
	attack  int // index of the first attack action
	choices int // K

	// Lengths of one row of observations or states.
	moveLen, enemyLen, allyLen, ownLen int
	allyState, enemyState              int
	obs, state                         int

	sight, shoot [typeCount]float64 // given the settings
	bits         [typeCount]int     // index in one-hot vectors
}

func newRules(s Settings, r *race) *rules {
	k := &rules{Settings: s, race: r, ground: flat(), n: s.Agents, m: s.Enemies}
	if newPhysics(s.Otherwise).rim { // set here, because a loaded battle needs the terrain before its field exists
		k.ground = rimmed()
	}
	k.attack = actLook
	if s.ConicFOV {
		k.attack += s.LookActions
	}
	k.choices = k.attack + k.m
	for t := range kinds {
		k.sight[t], k.shoot[t] = fixedSight, fixedShoot
		if s.UnitRanges {
			k.sight[t], k.shoot[t] = kinds[t].sight, max(kinds[t].shoot, s.MinAttack)
		}
	}
	for bit, t := range r.types {
		k.bits[t] = bit
	}
	k.measure()
	return k
}

// measure computes the lengths of rows, observations and state.
func (k *rules) measure() {
	life, bits := 1+count(k.race.shields), len(k.race.types)
	k.moveLen = 4 + 8*count(k.ObsPathing) + 9*count(k.ObsHeight)
	k.enemyLen = 4 + life*count(k.ObsAllHealth) + bits
	k.allyLen = k.enemyLen + k.choices*count(k.ObsLastAction)
	k.ownLen = life*count(k.showsOwnHealth()) + 2*count(k.ObsOwnPos) + 2*count(k.ConicFOV) + bits
	k.obs = k.moveLen + k.m*k.enemyLen + (k.n-1)*k.allyLen + k.ownLen + count(k.ObsTimestep)
	k.allyState = 3 + life + 2*count(k.ConicFOV) + bits
	k.enemyState = 2 + life + bits
	k.state = k.n*k.allyState + k.m*k.enemyState + k.n*k.choices*count(k.StateLast) + count(k.StateTimestep)
}

// showsOwnHealth reports whether agents observe their own health. obs_all_health implies it.
func (s *Settings) showsOwnHealth() bool { return s.ObsOwnHealth || s.ObsAllHealth }

// count is 1 if x, else 0.
func count(x bool) int {
	if x {
		return 1
	}
	return 0
}

// entities names the spans of an observation. The terrain, the time and the agent's own features belong to the
// observer.
func (k *rules) entities() []envs.Entity {
	at := k.moveLen
	var out []envs.Entity
	span := func(name string, kind envs.EntityKind, length int) {
		out = append(out, envs.Entity{Name: name, Kind: kind, From: at, To: at + length})
		at += length
	}
	for e := range k.m {
		span(fmt.Sprintf("enemy %d", e), envs.Object, k.enemyLen)
	}
	for a := range k.n - 1 {
		span(fmt.Sprintf("ally %d", a), envs.Ally, k.allyLen)
	}
	span("self", envs.Own, k.ownLen)
	return out
}
