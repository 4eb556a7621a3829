// SPDX-License-Identifier: Apache-2.0

package vmas

// Distance returns how far the surfaces of bodies a and b are apart in environment c, less the reach of lines and boxes; below 0
// they overlap. It asks neither whether they can collide nor whether they are near. A sphere inside a box is at −1.
func (w *World) Distance(c, a, b int) float32 {
	d, _ := w.distance(c, a, b)
	return d
}

// Near reports whether the bounding circles of bodies a and b, which leave out the reach of lines and boxes, touch in environment c.
//
// Deviation: where rewards ask for it, the original asks for the circles of any environment of the batch. Here, as in a batch of
// one, they have to touch in the copy itself.
func (w *World) Near(c, a, b int) bool {
	return w.Pos(c, a).Sub(w.Pos(c, b)).Norm() <= w.body[a].bound+w.body[b].bound
}

// Overlap reports whether bodies a and b overlap in environment c.
func (w *World) Overlap(c, a, b int) bool {
	// One part in a thousand keeps rounding from missing bodies that just touch.
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
