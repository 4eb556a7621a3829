// SPDX-License-Identifier: Apache-2.0

package vmas

// Script pulls the ball along a diagonal, on which forces are largest; round the circle, if that is paid; without rods,
// one agent pushes it.
func (b *ballTrajectory) Script(w *World, c, agent int) Vec {
	switch {
	case !b.Joints:
		return b.shove(w, c, agent)
	case b.PosShaping != 0:
		return b.orbit(w, c).Sub(w.Vel(c, 0)).Mul(10)
	}
	return Vec{1, 1}
}

// orbit is the velocity with which the ball gets onto the circle and stays on it, leftwards round the origin.
func (b *ballTrajectory) orbit(w *World, c int) Vec {
	const gain = 2 // metres to metres per second
	ball := w.Pos(c, 0)
	r := ball.Norm()
	if r == 0 {
		return Vec{ballSpeed, 0}
	}
	out := ball.Mul(1 / r)
	return out.Left().Add(out.Mul(gain * (ballCircle - r))).Shorten(ballSpeed)
}

// shove sends the agent that is further behind the ball against it, and the other one out of the way, if it is in it, or
// else after the ball.
func (b *ballTrajectory) shove(w *World, c, agent int) Vec {
	const side = 0.2 // from the ball's way
	ahead := Vec{1, 0}
	if b.PosShaping != 0 {
		ahead = b.orbit(w, c)
		if n := ahead.Norm(); n > 0 {
			ahead = ahead.Mul(1 / n)
		}
	}
	ball, self, other := w.Pos(c, 0), w.Pos(c, w.Agent(agent)), w.Pos(c, w.Agent(1-agent))
	place := ball
	offset := self.Sub(ball)
	mine, theirs := offset.Dot(ahead), other.Sub(ball).Dot(ahead)
	if pushes := mine < theirs || mine == theirs && agent == 0; !pushes {
		place = ball.Add(ahead.Left().Mul(side))
	} else if mine < -ballRadius/2 {
		place = ball.Sub(ahead.Left().Mul(3 * offset.Dot(ahead.Left()))).Add(ahead)
	} else {
		place = ball.Sub(ahead.Mul(3 * ballRadius)).Add(ahead.Left().Mul(2 * ballRadius))
	}
	return place.Sub(self).Mul(10).Sub(w.Vel(c, w.Agent(agent)))
}
