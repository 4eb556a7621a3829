// SPDX-License-Identifier: Apache-2.0

package vmas

// Script lifts with full force and eases off on the side of the line that is too high. The target tilt lets the
// package slide back to the middle of the line and makes the load drift slowly to the goal.
func (b *balance) Script(w *World, c, agent int) Vec {
	line, load, goal := w.Pos(c, balanceLine), w.Pos(c, balancePackage), w.Pos(c, balanceGoal)
	self := w.Pos(c, w.Agent(agent))
	offset := load.X - line.X
	sliding := w.Vel(c, balancePackage).X - w.Vel(c, balanceLine).X
	level := clamp(0.8*offset+sliding, 0.2)
	tilt := w.Rot(c, balanceLine) - level + w.Spin(c, balanceLine)
	const spread = balanceLineLength - balanceAgentRadius
	slot := -spread/2 + spread*float32(agent)/float32(b.Agents-1) // the agent's place under the line
	lift := 1 - max(0, 3*tilt*slot/(spread/2))
	drift := clamp(goal.X-load.X, 0.05)
	return Vec{4*(line.X+slot-self.X) + drift, lift}
}
