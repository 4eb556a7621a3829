// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"

	"cermic/envs"
)

// The actions of an agent. Looks (with a conic view) come after the moves, attacks after the looks.
const (
	actNone  = iota // of the dead only
	actStop         //
	actNorth        // +y
	actSouth        // −y
	actEast         // +x
	actWest         // −x
	actLook         // the first look, or the first attack
)

// Fixed parts of the interface. From: oxwhirl/smacv2, smacv2/env/starcraft2/starcraft2.py, 577ab5a
const (
	fixedSight = 9 // without use_unit_ranges
	fixedShoot = 6
)

// steps of the four moves, in cells.
var compass = [4][2]float64{{0, 1}, {0, -1}, {1, 0}, {-1, 0}}

// rules are what all environments share: settings, and what follows from them.
type rules struct {
	Settings
	race   *race
	ground *Terrain // until a field has another

	n, m    int // N agents and their enemies
	attack  int // first attack action
	choices int // K

	// Numbers in one row of an observation or of the state.
	moveLen, enemyLen, allyLen, ownLen int
	allyState, enemyState              int
	obs, state                         int

	sight, shoot [typeCount]float64 // as the settings have them
	bits         [typeCount]int     // place in the one-hot entries
}

func newRules(s Settings, r *race) *rules {
	k := &rules{Settings: s, race: s.teams(r), ground: flat(), n: s.Agents, m: s.Enemies}
	if newPhysics(s.Otherwise).rim { // from the start: a battle that is loaded needs the ground before any field shows it
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
			k.sight[t], k.shoot[t] = kinds[t].sight, max(kinds[t].shoot, float64(s.MinAttack))
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

// showsOwnHealth reports whether agents perceive their own health: without obs_own_health they still do with that of others.
func (s *Settings) showsOwnHealth() bool { return s.ObsOwnHealth || s.ObsAllHealth }

// count is 1 if x, else 0.
func count(x bool) int {
	if x {
		return 1
	}
	return 0
}

// entities names the spans of an observation: the ground and oneself are about the observer, as is the time.
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
