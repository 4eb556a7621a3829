// SPDX-License-Identifier: Apache-2.0

package vmas

// step advances the bodies of environment c by Dt with the forces in w.push.
func (w *World) step(c int) {
	for k := range w.spec.Substeps {
		w.gatherForces(c)
		w.integrate(c, k == 0)
	}
}

// gatherForces sums the forces on the bodies of environment c at the start of a substep, in this order: actions,
// friction, gravity, joints, contacts.
func (w *World) gatherForces(c int) {
	from := c * w.count
	vel, spin := w.vel[from:from+w.count], w.spin[from:from+w.count]
	force, torque := w.force[from:from+w.count], w.torque[from:from+w.count]
	push := w.push[c*w.agents : (c+1)*w.agents]
	for _, b := range w.moving {
		k := &w.body[b]
		f, t := Vec{}, float32(0)
		if k.movable {
			if b >= w.landmarks {
				f = push[b-w.landmarks]
			}
			if k.friction > 0 {
				f = f.Add(slidingFriction(k, vel[b], w.subDt))
			}
			f = f.Add(k.weight)
		}
		if k.rotatable && k.spinGrip > 0 && spin[b] != 0 {
			grip := min(k.spinGrip*k.inertia, abs(spin[b])/w.subDt*k.inertia)
			t = -sign(spin[b]) * grip
		}
		force[b], torque[b] = f, t
	}
	for k := range w.spec.Joints {
		w.pull(c, k)
	}
	w.collide(c)
}

// slidingFriction opposes v. Each component is limited to the force that stops the body within the substep.
func slidingFriction(k *body, v Vec, dt float32) Vec {
	speed := v.Norm()
	if speed == 0 {
		return Vec{}
	}
	limit := k.friction * k.mass
	return Vec{
		-(v.X / speed) * min(limit, abs(v.X)/dt*k.mass),
		-(v.Y / speed) * min(limit, abs(v.Y)/dt*k.mass),
	}
}

// integrate moves the bodies of environment c by one substep of semi-implicit Euler. Drag applies in the first
// substep only.
func (w *World) integrate(c int, first bool) {
	from := c * w.count
	pos, vel := w.pos[from:from+w.count], w.vel[from:from+w.count]
	rot, spin := w.rot[from:from+w.count], w.spin[from:from+w.count]
	force, torque := w.force[from:from+w.count], w.torque[from:from+w.count]
	for _, b := range w.moving {
		k := &w.body[b]
		if k.movable {
			v := vel[b]
			if first {
				v = v.Mul(k.keep)
			}
			v.X += force[b].X / k.mass * w.subDt
			v.Y += force[b].Y / k.mass * w.subDt
			if k.maxSpeed > 0 {
				v = v.Shorten(k.maxSpeed)
			}
			if k.maxPerAxe > 0 {
				v = v.Clamp(k.maxPerAxe)
			}
			vel[b] = v
			pos[b] = w.inside(pos[b].Add(v.Mul(w.subDt)))
		}
		if k.rotatable && (spin[b] != 0 || torque[b] != 0) { // spheres seldom turn
			s := spin[b]
			if first {
				s *= k.keep
			}
			s += torque[b] / k.inertia * w.subDt
			spin[b] = s
			rot[b] += s * w.subDt
			w.face(from+b, k)
		}
	}
}

// inside clamps a position to the world. The velocity of a body at the border does not change.
func (w *World) inside(p Vec) Vec {
	if w.spec.XLimit > 0 {
		p.X = clamp(p.X, w.spec.XLimit)
	}
	if w.spec.YLimit > 0 {
		p.Y = clamp(p.Y, w.spec.YLimit)
	}
	return p
}

func sign(x float32) float32 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
