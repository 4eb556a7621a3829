// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

// steer returns a script's action towards a moving place that avoids collisions. Of sixteen directions at two forces,
// and braking, it picks the action that ends nearest to the place's future position. Actions that bring the agent
// within room of a body to avoid, at its current velocity, lose.
func (w *World) steer(c, agent int, place, placeVel Vec, avoid []int, room float32) Vec {
	best, least := Vec{}, float32(math.Inf(1))
	try := func(u Vec) {
		if cost := w.foresee(c, agent, u, place, placeVel, avoid, room); cost < least {
			best, least = u, cost
		}
	}
	try(w.Vel(c, w.Agent(agent)).Mul(-10).Clamp(1)) // brakes at full force
	for k := range 16 {
		ahead := headingOf(float32(k) * math.Pi / 8)
		try(ahead)
		try(ahead.Mul(0.3))
	}
	return best
}

// foresee returns the cost of exerting force u for some steps.
func (w *World) foresee(c, agent int, u, place, placeVel Vec, avoid []int, room float32) float32 {
	const steps = 6
	self := w.Agent(agent)
	k, pos, vel, cost := &w.body[self], w.Pos(c, self), w.Vel(c, self), float32(0)
	for step := 1; step <= steps; step++ {
		later := w.spec.Dt * float32(step)
		vel = vel.Mul(k.keep).Add(u.Mul(w.spec.Dt / k.mass))
		pos = pos.Add(vel.Mul(w.spec.Dt))
		place = place.Add(placeVel.Mul(w.spec.Dt))
		for _, b := range avoid {
			gap := w.Pos(c, b).Add(w.Vel(c, b).Mul(later)).Sub(pos).Norm() - w.body[b].bound - k.bound
			cost += 10 * max(0, room-gap) / float32(step)
		}
	}
	return cost + pos.Sub(place).Norm()
}
