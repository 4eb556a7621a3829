// SPDX-License-Identifier: Apache-2.0

package vmas

// Script lets agent 0 wait in the niche until agent 1, which waits before it, has passed below.
func (g *giveWay) Script(w *World, c, agent int) Vec {
	const (
		gain    = 4    // of position errors: the slowest command stands for 0.02 m
		niche   = 0.45 // height at which the other one fits below
		waiting = 0.4  // distance from the middle that leaves room to enter the niche
	)
	yielding, passing := w.Pos(c, w.Agent(0)), w.Pos(c, w.Agent(1))
	passed := passing.X < yielding.X-2*giveWayRadius
	self, target := w.Pos(c, w.Agent(agent)), w.Pos(c, giveWayGoal+agent)
	switch {
	case agent == 1 && !passed && yielding.Y < niche-0.1:
		target.X = waiting
	case agent == 0 && !passed && abs(self.X) < 0.15:
		target = Vec{0, niche}
	case agent == 0 && !passed:
		target.X = 0
	case agent == 0 && self.Y > 0.1:
		target = Vec{0, 0}
	}
	return target.Sub(self).Mul(gain)
}
