// SPDX-License-Identifier: Apache-2.0

package vmas

// Script pulls the ball along a diagonal, where the force limits are largest, or around the circle if that is
// rewarded. Without rods, the agents push it along their starting line, or hold it between them on the circle.
func (b *ballTrajectory) Script(w *World, c, agent int) Vec {
	switch {
	case b.Joints && b.PosShaping > 0:
		return b.orbit(w, c)
	case b.Joints:
		return Vec{1, 1}
	case b.PosShaping > 0:
		return b.hold(w, c, agent)
	}
	return b.shove(w, c, agent)
}

// orbit moves the ball to the circle and, if speed is rewarded, counter-clockwise along it.
func (b *ballTrajectory) orbit(w *World, c int) Vec {
	ball, vel := w.Pos(c, 0), w.Vel(c, 0)
	r := ball.Norm()
	if r == 0 {
		return Vec{1, 0}
	}
	out := ball.Mul(1 / r)
	speed := 2 * (ballCircle - r)
	if b.SpeedShaping <= 0 {
		return out.Mul(speed).Sub(vel).Mul(10)
	}
	round := vel.Dot(out.Left())
	u := out.Mul(10*(speed-vel.Dot(out)) - 3*round*round/ballCircle) // centripetal force for three masses
	return u.Add(out.Left().Mul(10 * (ballSpeed - round)))
}

// hold presses both agents against the ball along x and moves it to the circle.
func (b *ballTrajectory) hold(w *World, c, agent int) Vec {
	ball, vel, self := w.Pos(c, 0), w.Vel(c, 0), w.Pos(c, w.Agent(agent))
	place := sqrt(max(0, ballCircle*ballCircle-ball.Y*ball.Y)) * side(ball.X)
	press := 0.4 * side(ball.X-self.X)
	align := 10*(ball.Y-self.Y) - 3*w.Vel(c, w.Agent(agent)).Y
	return Vec{press + 2*(place-ball.X) - 2*vel.X, align}
}

// shove makes the left agent push the ball and the right agent move out of its way.
func (b *ballTrajectory) shove(w *World, c, agent int) Vec {
	const aside = 0.2
	ball, self := w.Pos(c, 0), w.Pos(c, w.Agent(agent))
	vel := w.Vel(c, w.Agent(agent))
	if other := w.Pos(c, w.Agent(1-agent)); self.X > other.X || self.X == other.X && agent == 1 {
		return ball.Add(Vec{0, aside}).Sub(self).Mul(10).Sub(vel)
	}
	return Vec{1, 10*(ball.Y-self.Y) - 3*vel.Y}
}
