// SPDX-License-Identifier: Apache-2.0

package vmas

// collide adds the forces and torques of all contacts of environment c.
func (w *World) collide(c int) {
	from := c * w.count
	pos, heading := w.pos[from:from+w.count], w.heading[from:from+w.count]
	force, torque := w.force[from:from+w.count], w.torque[from:from+w.count]
	for i := range w.pairs {
		p := &w.pairs[i]
		a, b := p.a, p.b
		if p.apart(pos[b].Sub(pos[a]), heading[a], heading[b]) {
			continue
		}
		bodyA, bodyB := &w.body[a], &w.body[b]
		atA, atB := touching(p.kind, w.placed(c, int(a)), w.placed(c, int(b)))
		f := w.contactForce(p, atA, atB, pos[a], pos[b])
		if f == (Vec{}) {
			continue
		}
		if bodyA.movable {
			force[a] = force[a].Add(f)
		}
		if bodyB.movable {
			force[b] = force[b].Sub(f)
		}
		if bodyA.rotatable && bodyA.shape.Kind != SphereShape {
			torque[a] += atA.Sub(pos[a]).Cross(f)
		}
		if bodyB.rotatable && bodyB.shape.Kind != SphereShape {
			torque[b] -= atB.Sub(pos[b]).Cross(f)
		}
	}
}

// contactForce is the force on body a of a pair whose closest surface points are atA and atB. Solid boxes push from
// an inner point, so that a body that has entered a box is still pushed out.
func (w *World) contactForce(p *pair, atA, atB, centreA, centreB Vec) Vec {
	reach, fromA, fromB := p.reach, atA, atB
	if a := &w.body[p.a].shape; a.Kind == BoxShape && !a.Hollow {
		inner, depth := innerPoint(atB, atA, centreA)
		fromA, reach = inner, reach+depth
	}
	if b := &w.body[p.b].shape; b.Kind == BoxShape && !b.Hollow {
		inner, depth := innerPoint(atA, atB, centreB)
		fromB, reach = inner, reach+depth
	}
	gap := fromA.Sub(fromB)
	d := gap.Norm()
	if d < touchMin || d > reach {
		return Vec{}
	}
	strength := w.spec.CollisionForce * w.soften(reach-d)
	return Vec{strength * gap.X / d, strength * gap.Y / d}
}

// touchMin is the distance below which a contact has no direction and exerts no force; crossing segments have
// distance 0.
// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const touchMin = 1e-6

// soften returns m·log(1 + exp(x/m)) with m = softness, for x ≥ 0: x with a rounded corner.
func (w *World) soften(x float32) float32 { return w.softness * softplus(x/w.softness) }

// innerPoint moves the surface point s of a box away from the outside point o, along the line through both, to the
// foot of the box's centre. It returns the new point and the distance moved.
//
// If o lies on the surface, the direction is undefined. The original then uses s as a world position, which has no
// effect away from the origin; the recordings confirm this.
func innerPoint(o, s, centre Vec) (inner Vec, depth float32) {
	v, u := s.Sub(o), centre.Sub(s)
	n := v.Norm()
	if n == 0 {
		return s.Add(s), 0
	}
	x := v.Dot(u) / n
	return s.Add(Vec{v.X / n * x, v.Y / n * x}), abs(x)
}
