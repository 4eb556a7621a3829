// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

// Script looks a few steps ahead: of sixteen directions, each at two forces, and of braking, it takes the one after which
// the agent is nearest to its goal, and that brings it no nearer to others, if they go on as they do, than it must be.
func (n navigation) Script(w *World, c, agent int) Vec {
	self := w.Agent(agent)
	best, least := Vec{}, float32(math.Inf(1))
	try := func(u Vec) {
		if cost := n.foresee(w, c, agent, u); cost < least {
			best, least = u, cost
		}
	}
	try(w.Vel(c, self).Mul(-10).Clamp(1)) // brakes as hard as it can
	for k := range 16 {
		ahead := headingOf(float32(k) * math.Pi / 8)
		try(ahead)
		try(ahead.Mul(0.3))
	}
	return best
}

// foresee returns how bad it is to exert the force u for some steps.
func (n navigation) foresee(w *World, c, agent int, u Vec) float32 {
	const steps, room = 6, 0.05
	self := w.Agent(agent)
	pos, vel, cost := w.Pos(c, self), w.Vel(c, self), float32(0)
	for k := 1; k <= steps; k++ {
		vel = vel.Mul(0.75).Add(u.Mul(0.1)) // the world's drag and dt
		pos = pos.Add(vel.Mul(0.1))
		for other := range n.Agents {
			b := w.Agent(other)
			if other == agent || !n.Collisions {
				continue
			}
			gap := w.Pos(c, b).Add(w.Vel(c, b).Mul(0.1*float32(k))).Sub(pos).Norm() - 2*n.AgentRadius
			cost += 10 * max(0, room-gap) / float32(k)
		}
	}
	return cost + pos.Sub(w.Pos(c, n.goal(agent))).Norm()
}
