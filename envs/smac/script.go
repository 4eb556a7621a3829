// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"

	"cermic/envs"
)

// Script is focused fire: every agent attacks the weakest enemy in range, or walks to the nearest enemy. It uses the
// positions of all enemies, visible or not, and never looks around.
func (e *env) Script(act *envs.Actions) bool {
	for c := range e.arenas {
		b := e.arenas[c].battle
		for i := range e.n {
			act.Discrete[c*e.n+i] = b.focus(i)
		}
	}
	return true
}

// focus is the scripted action of agent i.
func (b *battle) focus(i int) int32 {
	if b.mask[i*b.choices+actNone] != 0 { // dead: no other action is allowed
		return actNone
	}
	best, least := -1, math.Inf(1)
	for e := range b.m {
		if x := &b.units[b.n+e]; b.canShoot(i, e) && x.strength() < least {
			best, least = e, x.strength()
		}
	}
	if best >= 0 {
		return int32(b.attack + best)
	}
	return b.approach(i)
}

// nearest is the living enemy nearest to agent i, or −1.
func (b *battle) nearest(i int) int {
	best, least := -1, math.Inf(1)
	for e := range b.m {
		if d := b.apart[i*len(b.units)+b.n+e]; b.units[b.n+e].Health > 0 && d < least {
			best, least = e, d
		}
	}
	return best
}

// approach moves agent i towards the nearest enemy along the axis of the larger distance, or along the other one if
// that way is blocked. It stops if both are blocked, and does nothing when dead.
func (b *battle) approach(i int) int32 {
	mask, e := b.mask[i*b.choices:(i+1)*b.choices], b.nearest(i)
	if mask[actNone] != 0 {
		return actNone
	}
	if e < 0 {
		return actStop
	}
	dx, dy := b.units[b.n+e].X-b.units[i].X, b.units[b.n+e].Y-b.units[i].Y
	along, across := int32(actEast), int32(actNorth)
	if dx < 0 {
		along = actWest
	}
	if dy < 0 {
		across = actSouth
	}
	if max(dx, -dx) < max(dy, -dy) {
		along, across = across, along
	}
	for _, a := range []int32{along, across} {
		if mask[a] != 0 {
			return a
		}
	}
	return actStop
}
