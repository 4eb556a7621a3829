// SPDX-License-Identifier: Apache-2.0

package vmas

// Distance returns the gap between the surfaces of bodies a and b in environment c, less lineReach for lines and
// boxes. It is negative if they overlap, and −1 for a sphere inside a box. Collision filters play no part.
func (w *World) Distance(c, a, b int) float32 {
	d, _ := w.distance(c, a, b)
	return d
}

// Near reports whether the bounding circles of bodies a and b, without lineReach, touch in environment c.
//
// Deviation: in rewards, the original requires the circles to touch in any environment of the batch. Here they must
// touch in environment c, as in a batch of one.
func (w *World) Near(c, a, b int) bool {
	return w.Pos(c, a).Sub(w.Pos(c, b)).Norm() <= w.body[a].bound+w.body[b].bound
}

// Overlap reports whether bodies a and b overlap in environment c.
func (w *World) Overlap(c, a, b int) bool {
	// The margin of 0.1 % keeps rounding from missing bodies that just touch.
	reach := 1.001 * (w.body[a].bound + w.body[b].bound + lineReach)
	if square(w.Pos(c, a).Sub(w.Pos(c, b))) > reach*reach {
		return false
	}
	_, overlap := w.distance(c, a, b)
	return overlap
}

func (w *World) distance(c, a, b int) (float32, bool) {
	if w.body[a].shape.Kind < w.body[b].shape.Kind {
		a, b = b, a
	}
	i, j := w.at(c, a), w.at(c, b)
	bodyA, bodyB := &w.body[a], &w.body[b]
	kind := kindOf(bodyA.shape.Kind, bodyB.shape.Kind)
	onA, onB := touching(kind, w.placed(c, a), w.placed(c, b))
	d := onA.Sub(onB).Norm() - bodyA.shape.Radius - bodyB.shape.Radius
	if kind != sphereSphere {
		d -= lineReach
	}
	if kind == boxSphere && w.pos[j].Sub(w.pos[i]).Norm() < onA.Sub(w.pos[i]).Norm() {
		return -1, true
	}
	if kind == boxSphere && d < 0 {
		return -1, true
	}
	return d, d < 0
}
