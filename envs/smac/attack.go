// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"

	"cermic/envs/smac/sc2"
)

// blow is a pending hit.
type blow struct {
	Due      int32 // loop in which it lands
	From, At int32 // units
	Held     bool  // cancelled if the attacker dies first, as a zealot's second hit
}

// Weapon constants in cells, loops and life points.
const (
	leastDamage    = 0.5 // minimum damage after armour
	beamHalf       = 1.25
	beamWidth      = 0.15
	blastRadius    = 2.2
	cooldownSpread = 4 // the random part of a period is one of −1, 0, 1, 2
	shortReach     = 0.5
	shortWindUp    = 0.3 // game seconds
)

// engage attacks if the target is in range and the weapon is ready; otherwise the unit moves closer.
//
// DECISION 20: hydralisks have one weapon. The game's short-range form only has a longer wind-up.
func (s *simulator) engage(i int32, u *soldier) {
	k, t := &s.kinds[u.Type], &s.units[u.Target]
	if !s.within(u, t, square(u, t), k.reach) {
		s.step(u, t.X, t.Y)
		return
	}
	if u.Cooldown > 0 || s.turning && !u.turn(t.X, t.Y) {
		return
	}
	u.Cooldown = k.period
	if !s.evenPeriods {
		u.Cooldown += float32(s.chance.IntN(cooldownSpread) - 1)
	}
	u.WindUp = k.windUp
	if s.shortForm && u.Type == Hydralisk && s.within(u, t, square(u, t), shortReach) {
		u.WindUp = delay(shortWindUp)
	}
	if u.WindUp == 0 {
		s.strike(i, u)
	}
}

// wind continues an attack.
//
// DECISION 14: the target may leave the range by up to slop; beyond that the attack is lost and the weapon stays on
// cooldown.
func (s *simulator) wind(i int32, u *soldier) {
	k, t := &s.kinds[u.Type], &s.units[u.Target]
	if t.Health <= 0 || !s.within(u, t, square(u, t), k.reach+k.slop) {
		u.WindUp = 0
		return
	}
	if u.WindUp--; u.WindUp == 0 {
		s.strike(i, u)
	}
}

// strike schedules the blows of an attack.
//
// DECISION 21: blows land after all units have acted, so two units can kill each other.
func (s *simulator) strike(i int32, u *soldier) {
	k, now := &s.kinds[u.Type], s.clock.Loop
	switch {
	case u.Type == Baneling:
		s.launch(blow{Due: now, From: i, At: i})
	case u.Type == Colossus:
		s.sweep(i, u)
	case k.missile > 0: // DECISION 17: never misses, and lands even if the shooter is dead
		t := &s.units[u.Target]
		flight := int32(math.Ceil(float64(root(square(u, t)) / k.missile)))
		s.launch(blow{Due: now + max(1, flight), From: i, At: u.Target})
	default:
		for hit := range k.hits {
			s.launch(blow{Due: now + int32(hit)*s.secondHit, From: i, At: u.Target, Held: hit > 0})
		}
	}
}

// sweep aims the two beams of a colossus across the line of fire, at all enemies whose edges they touch.
func (s *simulator) sweep(i int32, u *soldier) {
	t := &s.units[u.Target]
	along, d := [2]float32{1, 0}, root(square(u, t))
	if d > 0 {
		along = [2]float32{(t.X - u.X) / d, (t.Y - u.Y) / d}
	}
	for j := range s.units {
		x := &s.units[j]
		if x.Health <= 0 || x.Enemy == u.Enemy {
			continue
		}
		// Offset from the target relative to the line of fire: depth along it, side across it.
		dx, dy := x.X-t.X, x.Y-t.Y
		depth := float32(dx*along[0]) + float32(dy*along[1])
		side := float32(dy*along[0]) - float32(dx*along[1])
		side = max(0, side-beamHalf, -side-beamHalf)
		if touch := s.kinds[x.Type].radius + beamWidth; length(depth, side) > touch {
			continue
		}
		for range s.kinds[Colossus].hits {
			s.launch(blow{Due: s.clock.Loop + s.beamDelay, From: i, At: int32(j)})
		}
	}
}

func (s *simulator) launch(b blow) {
	s.flying[s.clock.Flying] = b
	s.clock.Flying++
}

// land applies the blows that are due, in order of launch.
func (s *simulator) land() {
	kept := int32(0)
	for f := range s.clock.Flying {
		b := s.flying[f]
		if b.Due > s.clock.Loop {
			s.flying[kept] = b
			kept++
			continue
		}
		if b.At == b.From {
			s.kill(b.At)
		} else if !b.Held || s.units[b.From].Health > 0 {
			s.hit(b.From, b.At)
		}
	}
	s.clock.Flying = kept
}

// hit applies one hit: to shields first, then to life minus armour. It has no effect on dead units.
func (s *simulator) hit(from, at int32) {
	k, x := &s.kinds[s.units[from].Type], &s.units[at]
	if x.Health <= 0 {
		return
	}
	v := &s.kinds[x.Type]
	damage := k.damage
	if v.armoured {
		damage += k.versusArmoured
	}
	if v.light {
		damage += k.versusLight
	}
	x.Hurt = s.clock.Loop
	absorbed := min(x.Shield, damage)
	x.Shield -= absorbed
	if damage -= absorbed; damage == 0 {
		return
	}
	x.Health -= max(leastDamage, damage-v.armour)
	if x.Health <= 0 {
		s.kill(at)
	}
}

// kill removes a unit. A baneling always explodes: it hits all opponents within its radius, and banelings killed this
// way explode, too.
//
// DECISION 19: the radius is measured from its centre to the other unit's edge.
func (s *simulator) kill(i int32) {
	u := &s.units[i]
	if u.Type == Baneling && u.Order == burst {
		return
	}
	u.Health, u.Shield = 0, 0
	if u.Type != Baneling {
		return
	}
	u.Order = burst
	for j := range s.units {
		x := &s.units[j]
		reach := float32(blastRadius)
		if !s.blastCentres {
			reach += s.kinds[x.Type].radius
		}
		if x.Health > 0 && x.Enemy != u.Enemy && square(u, x) <= reach*reach {
			s.hit(i, int32(j))
		}
	}
}

// burst marks a baneling that has exploded, so that it explodes only once.
const burst sc2.Verb = 0xff
