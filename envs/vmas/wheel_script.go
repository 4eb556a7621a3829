// SPDX-License-Identifier: Apache-2.0

package vmas

// Script makes every agent push from its own side of the line, near the end where this turns the line in its current
// direction. Together they exert the torque lost to drag at the desired speed, corrected for the speed error.
func (t *wheel) Script(w *World, c, agent int) Vec {
	along, across := t.inLine(w, c, w.Pos(c, w.Agent(agent)))
	fast, slow := t.inLine(w, c, w.Vel(c, w.Agent(agent)))
	turn := t.direction(w, c)
	rank, arms := 0, float32(0)
	for i := range t.Agents {
		_, y := t.inLine(w, c, w.Pos(c, w.Agent(i)))
		if i < agent && side(y) == side(across) {
			rank++
		}
		arms += t.arm(i / 2) // about half of them on each side
	}
	place := -turn * side(across) * t.arm(rank)
	const near = 0.03
	u := Vec{10*(place-along) - 3*fast, 0}
	if abs(place-along) < near {
		gap := max(0, abs(across)-wheelAgentRadius-lineReach)
		speed := t.DesiredVelocity*t.arm(rank) + 2*gap
		loss := (1 - w.body[wheelLine].keep) / w.spec.Dt // fraction of velocity lost to drag per second
		press := loss * t.DesiredVelocity * w.body[wheelLine].inertia / arms
		miss := t.DesiredVelocity - turn*w.Spin(c, wheelLine)
		push := (press+loss*speed)/0.6 + 5*(speed+side(across)*slow) + 5*miss
		u.Y = -side(across) * push
	} else {
		const clear = 3 * wheelAgentRadius
		u.Y = 10*(side(across)*clear-across) - 3*slow
	}
	heading := w.Heading(c, wheelLine)
	return Vec{clamp(u.X, 1), clamp(u.Y, 1)}.Turn(heading)
}

// arm is the distance from the centre at which the k-th agent on one side of the line pushes.
func (t *wheel) arm(k int) float32 {
	return max(0.1*t.LineLength, 0.45*t.LineLength-2.2*wheelAgentRadius*float32(k))
}

// direction is the line's direction of rotation or, at rest, the one that sends agents to their nearest ends.
func (t *wheel) direction(w *World, c int) float32 {
	if spin := w.Spin(c, wheelLine); abs(spin) > t.DesiredVelocity/10 {
		return side(spin)
	}
	votes := float32(0)
	for i := range t.Agents {
		x, y := t.inLine(w, c, w.Pos(c, w.Agent(i)))
		votes -= x * side(y)
	}
	return side(votes)
}

// inLine returns the components of v along and across the line, relative to its centre.
func (t *wheel) inLine(w *World, c int, v Vec) (along, across float32) {
	heading := w.Heading(c, wheelLine)
	return v.Dot(heading), v.Dot(heading.Left())
}
