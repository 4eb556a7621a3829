// SPDX-License-Identifier: Apache-2.0

package vmas

// Script queues the agents in front of a hole, nearest first, and lets them through one by one. Above the wall they
// gather in a wide formation, which closes over the goals when all have arrived.
func (p *passage) Script(w *World, c, agent int) Vec {
	const (
		speed = 0.28 // that full force sustains
		gain  = 3    // metres to metres per second
	)
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	target := p.gathering(w, c, agent)
	if pos.Y < passageClear {
		target = p.nextInQueue(w, c, agent)
	}
	v := target.Sub(pos).Mul(gain).Shorten(speed)
	for i := range passageAgents {
		if other := w.Pos(c, w.Agent(i)); i != agent && (pos.Y > passageClear) == (other.Y > passageClear) {
			v = giveRoom(v, other.Sub(pos))
		}
	}
	// The velocity is v after one step, if the force is within the limit.
	return v.Sub(w.Vel(c, self).Mul(0.75)).Mul(1 / (0.1 * 0.7))
}

// passageClear is the distance from the wall's centre line beyond which an agent does not touch the wall.
const passageClear = passageBoxWidth/2 + passageRadius + lineReach + 0.01

// nextInQueue returns the next position of an agent below the wall: in front of the nearest hole, then straight
// through. The agent waits while an agent ahead of it is close.
func (p *passage) nextInQueue(w *World, c, agent int) Vec {
	pos := w.Pos(c, w.Agent(agent))
	hole := w.Pos(c, passageBox)
	for i := range p.Passages {
		if h := w.Pos(c, passageBox+i); abs(h.X-pos.X) < abs(hole.X-pos.X) {
			hole = h
		}
	}
	gate := Vec{hole.X, -passageClear - 0.05}
	before := func(p Vec) bool { return abs(p.X-hole.X) < 0.01 && p.Y > gate.Y-0.03 }
	ahead := func(p Vec) float32 { // distance to the far side of the hole
		if before(p) {
			return passageClear - p.Y
		}
		return p.Sub(gate).Norm() + 2*passageClear
	}
	for i := range passageAgents {
		other := w.Pos(c, w.Agent(i))
		const gap = 0.13
		if i != agent && other.Y < passageClear+gap-0.03 && ahead(other) < ahead(pos) && square(other.Sub(pos)) < gap*gap {
			return pos
		}
	}
	if before(pos) {
		return Vec{hole.X, 1}
	}
	return gate
}

// gathering returns the target of an agent above the wall: its goal if all agents are in formation, else its place in
// the wide formation. The formation keeps away from the wall until all agents have passed.
func (p *passage) gathering(w *World, c, agent int) Vec {
	const widening = 1.6
	var centre Vec
	for i := range passageAgents {
		centre = centre.Add(w.Pos(c, passageGoal+i).Mul(1.0 / passageAgents))
	}
	passed, gathered := true, true
	for i := range passageAgents {
		passed = passed && w.Pos(c, w.Agent(i)).Y > passageClear
		offset := w.Pos(c, passageGoal+i).Sub(centre)
		gathered = gathered && p.toGoal(w, c, i) < 0.03+0.7*offset.Norm()
	}
	goal := w.Pos(c, passageGoal+agent)
	if gathered {
		return goal
	}
	offset := goal.Sub(centre).Mul(widening)
	if !passed {
		centre.Y = max(centre.Y, 0.52)
	}
	place := centre.Add(offset)
	place.Y = max(place.Y, passageClear+0.02)
	return place
}

// giveRoom deflects a velocity to the left of an obstacle at offset.
func giveRoom(v, offset Vec) Vec {
	const room = 0.1
	d := offset.Norm()
	if d >= room || v.Dot(offset) <= 0 {
		return v
	}
	towards := offset.Mul(1 / d)
	side := Vec{-towards.Y, towards.X}
	return v.Sub(towards.Mul(v.Dot(towards) * (room - d) / 0.02)).Add(side.Mul(v.Norm() / 2))
}
