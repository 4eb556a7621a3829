// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

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

// innerPoint moves the surface point s of a box away from the outside point o. The point moves along the line through
// both, to the foot of the box's centre. It returns the new point and the distance moved.
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

// pull adds the force of joint k to its two bodies in environment c. The force moves their anchor points to the
// joint's distance; a stiff joint also turns the bodies back to their fixed rotation.
func (w *World) pull(c, k int) {
	j := &w.spec.Joints[k]
	a, b := w.at(c, j.A), w.at(c, j.B)
	armA, armB := j.AnchorA.Turn(w.heading[a]), j.AnchorB.Turn(w.heading[b])
	gap := w.pos[a].Add(armA).Sub(w.pos[b].Add(armB))
	d := gap.Norm()
	var f Vec
	if d >= touchMin {
		strength := float32(0)
		if d <= j.Dist {
			strength += w.soften(j.Dist - d)
		}
		if d >= j.Dist {
			strength -= w.soften(d - j.Dist)
		}
		strength *= w.spec.JointForce
		f = Vec{strength * gap.X / d, strength * gap.Y / d}
	}
	turn := float32(0)
	if !j.Rotate {
		delta := w.rot[a] - (w.rot[b] + w.fixedRot[c*len(w.spec.Joints)+k])
		turn = w.spec.TorqueForce * sign(delta) * float32(math.Expm1(float64(abs(delta))))
	}
	if w.body[j.A].movable {
		w.force[a] = w.force[a].Add(f)
	}
	if w.body[j.B].movable {
		w.force[b] = w.force[b].Sub(f)
	}
	if w.body[j.A].rotatable {
		w.torque[a] += armA.Cross(f) - turn
	}
	if w.body[j.B].rotatable {
		w.torque[b] += turn - armB.Cross(f)
	}
}

// softplus returns log(1 + exp(z)) for z ≥ 0.
//
// It is z + log(1 + exp(−z)), with the second term from a table of cubic polynomials. Direct evaluation would take
// half the time of worlds with joints.
func softplus(z float32) float32 {
	if !(z < softplusEnd) { // beyond the end, the remainder is below the last bit of z; NaN stays NaN
		return z
	}
	x := float64(z) * softplusCells
	cell := int(x)
	t, p := x-float64(cell), &softplusTable[cell]
	return float32(float64(z) + p[0] + t*(p[1]+t*(p[2]+t*p[3])))
}

const (
	softplusEnd   = 20
	softplusCells = 16 // per unit of z
)

// softplusTable holds a cubic polynomial per cell with the function's values and slopes at both ends. Its error is at
// most h⁴/384 times the fourth derivative, which is at most 1/8: 5e-9, a sixth of the rounding to float32.
var softplusTable = func() (table [softplusEnd * softplusCells][4]float64) {
	const h = 1.0 / softplusCells
	value := func(z float64) float64 { return math.Log1p(math.Exp(-z)) }
	slope := func(z float64) float64 { return -1 / (1 + math.Exp(z)) }
	for i := range table {
		from := h * float64(i)
		a, b := value(from), value(from+h)
		da, db := h*slope(from), h*slope(from+h)
		table[i] = [4]float64{a, da, 3*(b-a) - 2*da - db, 2*(a-b) + da + db}
	}
	return table
}()
