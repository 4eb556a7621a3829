// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"
	"math"

	"cermic/envs/smac/sc2"
)

// available writes the action mask of agent i, [K].
func (b *battle) available(i int, mask []uint8) {
	clear(mask)
	u := &b.units[i]
	if u.Health == 0 {
		mask[actNone] = 1
		return
	}
	mask[actStop] = 1
	for d, step := range compass {
		// The check is half a move ahead. Conversion truncates towards zero, so a unit within the first cell may move
		// on.
		ahead := float64(b.MoveAmount) / 2
		if b.ground.walkable(int(float64(u.X)+ahead*step[0]), int(float64(u.Y)+ahead*step[1])) {
			mask[actNorth+d] = 1
		}
	}
	for a := actLook; a < b.attack; a++ {
		mask[a] = 1
	}
	for e := range b.m {
		if b.units[b.n+e].Health > 0 && (!b.ActionMask || b.canShoot(i, e)) {
			mask[b.attack+e] = 1
		}
	}
}

// canShoot reports whether enemy e is alive, within the range of agent i and, with a conic view, in its cone.
func (b *battle) canShoot(i, e int) bool {
	u, x := &b.units[i], &b.units[b.n+e]
	return x.Health > 0 && b.apart[i*len(b.units)+b.n+e] <= b.shoot[u.Type] && (!b.ConicFOV || b.inCone(i, x))
}

// inCone reports whether a unit is in the cone of agent i. The original compares slopes, not angles, after moving the
// gaze into the target's half plane. Cones that face west, north or south therefore have odd edges, which are kept.
func (b *battle) inCone(i int, x *Unit) bool {
	u, gaze := &b.units[i], b.gaze[i]
	dx, dy := float64(x.X)-float64(u.X), float64(x.Y)-float64(u.Y)
	fx := gaze[0]
	if dx > 0 {
		dx, fx = max(dx, 1e-7), max(fx, 1e-7)
	} else {
		dx, fx = min(dx, -1e-7), min(fx, -1e-7)
	}
	return math.Abs(math.Atan(dy/dx)-math.Atan(gaze[1]/fx)) < math.Pi/float64(b.LookActions)
}

// turn applies the look actions, before any unit moves.
func (b *battle) turn(actions []int32) {
	for i, a := range actions {
		if int(a) >= actLook && int(a) < b.attack {
			angle := 2 * math.Pi * float64(int(a)-actLook) / float64(b.LookActions)
			b.gaze[i] = [2]float64{math.Cos(angle), math.Sin(angle)}
		}
	}
}

// Command is an order to one agent's unit.
type Command = sc2.Order

// The verbs of commands.
const (
	Nothing = sc2.Nothing
	Stop    = sc2.Stop
	Move    = sc2.Move
	Attack  = sc2.Attack
)

// commands converts actions to commands, [N].
func (b *battle) commands(actions []int32, dst []Command) {
	for i, a := range actions {
		u, c := &b.units[i], Command{Tag: b.tags[i]}
		switch a := int(a); {
		case a == actStop:
			c.Verb = Stop
		case a >= actNorth && a <= actWest:
			step := compass[a-actNorth]
			a := float64(b.MoveAmount) // added in double precision, as in the original, and rounded once
			c.Verb, c.X, c.Y = Move, float32(float64(u.X)+a*step[0]), float32(float64(u.Y)+a*step[1])
		case a >= b.attack && b.canShoot(i, a-b.attack): // out of range, possible without an action mask, there is no command
			c.Verb, c.Target = Attack, b.tags[b.n+a-b.attack]
		}
		dst[i] = c
	}
}

// check returns an error for the first action that an agent's mask forbids.
func (b *battle) check(actions []int32) error {
	for i, a := range actions {
		if b.mask[i*b.choices+int(a)] == 0 {
			return fmt.Errorf("agent %d takes action %d, which its mask forbids", i, a)
		}
	}
	return nil
}
