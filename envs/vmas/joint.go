// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

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
