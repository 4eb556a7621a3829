// SPDX-License-Identifier: Apache-2.0

package vmas

// Script parks agent 0 in the upper niche until agent 1, which waits outside, has passed below.
func (g *giveWay) Script(w *World, c, agent int) Vec {
	const (
		niche   = 0.45 // height at which the other agent fits below
		waiting = 0.4  // distance from the middle that leaves room to enter the niche
	)
	yielding, passing := g.foreseen(w, c, 0), g.foreseen(w, c, 1)
	passed := passing.X < yielding.X-2*giveWayRadius
	self, target := g.foreseen(w, c, agent), w.Pos(c, giveWayGoal+agent)
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
	return g.goTo(w, c, agent, target.Sub(self))
}

// foreseen returns an agent's position after the actions in its queue.
func (g *giveWay) foreseen(w *World, c, agent int) Vec {
	p := w.Pos(c, w.Agent(agent))
	if !g.UseController || g.Delay == 0 {
		return p
	}
	queue := w.Memory(c)[giveWayQueue+2*g.Delay*agent:][:2*g.Delay]
	for k := 0; k < len(queue); k += 2 {
		p = p.Add(Vec{queue[k], queue[k+1]}.Shorten(g.SpeedLimit).Mul(giveWayDt))
	}
	return p
}

// goTo is the action that moves an agent by offset.
func (g *giveWay) goTo(w *World, c, agent int, offset Vec) Vec {
	const gain = 4 // of position errors: the slowest command corresponds to 0.02 m
	if !g.UseController {
		// At this speed, half of the force suffices to brake in time.
		d, friction := offset.Norm(), float32(g.LinearFriction)
		v := offset.Mul(gain).Shorten(min(0.9*g.SpeedLimit, sqrt(g.strongest*d)))
		push := v.Sub(w.Vel(c, w.Agent(agent))).Mul(5)
		if d > 0.02 {
			push = push.Add(v.Mul(friction / max(v.Norm(), 1e-3)))
		}
		return push
	}
	u := offset.Mul(gain * float32(max(1, g.LinearFriction/0.1))) // compensates friction
	if n := u.Norm(); g.SlowestInput > 0.08 && n < g.SlowestInput && offset.Norm() > 0.02 {
		u = u.Mul(1.01 * g.SlowestInput / n)
	}
	return u
}
