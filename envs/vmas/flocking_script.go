// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

// Script steers to the agent's place in a ring around the target and avoids collisions. The target is as fast as the
// agents, so distant agents head for a meeting point.
func (f *flocking) Script(w *World, c, agent int) Vec {
	const room = 0.02
	target, self := w.Agent(flockingTarget), w.Pos(c, w.Agent(agent))
	ring := max(0.125, 0.065/float32(math.Sin(math.Pi/float64(max(2, f.Agents)))))
	place := headingOf(2 * math.Pi * float32(agent) / float32(f.Agents)).Mul(ring).Add(w.Pos(c, target))
	avoid := numbers(0, w.Agent(agent))
	for other := agent + 1; other < w.agents; other++ {
		avoid = append(avoid, w.Agent(other))
	}
	if steps := place.Sub(self).Norm() / flockingStride; steps > 10 {
		for range 4 { // converged after four iterations
			steps = place.Add(f.lead(w, c, steps)).Sub(self).Norm() / flockingStride
		}
		return w.steer(c, agent, place.Add(f.lead(w, c, steps)), Vec{}, avoid, room)
	}
	return w.steer(c, agent, place, w.Vel(c, target), avoid, room)
}

// flockingStride is the distance that the target, or an agent at full force along an axis, moves in a step.
const flockingStride = 0.04

// lead is the target's displacement after some steps, if nothing stops it.
func (f *flocking) lead(w *World, c int, steps float32) Vec {
	now := *f.memory(w, c).clock / flockingPeriod
	from, to := headingOf(now), headingOf(now+steps/flockingPeriod)
	return Vec{to.Y - from.Y, from.X - to.X}.Mul(flockingStride * flockingPeriod)
}
