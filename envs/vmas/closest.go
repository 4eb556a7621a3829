// SPDX-License-Identifier: Apache-2.0

package vmas

// placed is a body with its pose; across is the direction of a box's short sides.
type placed struct {
	*body
	pos, heading, across Vec
}

// segment is a centre, a unit direction and half a length.
type segment struct {
	centre, along Vec
	half          float32
}

// touching returns the closest points of bodies a and b. Each is the centre of a sphere, a point on a line, or a point
// on the sides of a box. Ties go to the first candidate, with sides in the order +x, −x, +y, −y.
func touching(kind pairKind, a, b placed) (onA, onB Vec) {
	switch kind {
	case sphereSphere:
		return a.pos, b.pos
	case lineSphere:
		l := a.line()
		return l.nearest(b.pos), b.pos
	case lineLine:
		onA, onB, _ = nearestOfLines(a.line(), b.line())
		return onA, onB
	case boxSphere:
		return a.nearestSide(b.pos), b.pos
	case boxLine:
		onA, onB, _ = a.nearestToLine(b.line())
		return onA, onB
	}
	best := float32(-1)
	for i := range 4 {
		p, q, d := b.nearestToLine(a.side(i))
		if best < 0 || d < best {
			onA, onB, best = q, p, d
		}
	}
	return onA, onB
}

func (b *placed) line() segment { return segment{b.pos, b.heading, b.halfLength} }

// side returns one of the four sides of a box: +x, −x, +y, −y.
func (b *placed) side(i int) segment {
	switch i {
	case 0:
		return segment{b.pos.Add(b.heading.Mul(b.halfLength)), b.across, b.halfWidth}
	case 1:
		return segment{b.pos.Sub(b.heading.Mul(b.halfLength)), b.across, b.halfWidth}
	case 2:
		return segment{b.pos.Add(b.heading.Left().Mul(b.halfWidth)), b.heading, b.halfLength}
	}
	return segment{b.pos.Sub(b.heading.Left().Mul(b.halfWidth)), b.heading, b.halfLength}
}

// nearestSide returns the point on the sides of a box that is closest to p.
func (b *placed) nearestSide(p Vec) Vec {
	best, least := Vec{}, float32(-1)
	for i := range 4 {
		s := b.side(i)
		q := s.nearest(p)
		if d := square(p.Sub(q)); least < 0 || d < least {
			best, least = q, d
		}
	}
	return best
}

// nearestToLine returns the closest points of a box's sides and of a segment, and the square of their distance.
func (b *placed) nearestToLine(l segment) (onBox, onLine Vec, least float32) {
	least = -1
	for i := range 4 {
		p, q, d := nearestOfLines(b.side(i), l)
		if least < 0 || d < least {
			onBox, onLine, least = p, q, d
		}
	}
	return onBox, onLine, least
}

// nearest returns the point of s that is closest to p.
func (s *segment) nearest(p Vec) Vec {
	return s.centre.Add(s.along.Mul(clamp(p.Sub(s.centre).Dot(s.along), s.half)))
}

// nearestOfLines returns the closest points of two segments and their squared distance. The candidates are the four
// ends against the other segment and, if the segments cross, the crossing point.
func nearestOfLines(a, b segment) (onA, onB Vec, least float32) {
	if p, ok := crossing(a, b); ok {
		return p, p, 0
	}
	a1, a2 := a.centre.Add(a.along.Mul(a.half)), a.centre.Sub(a.along.Mul(a.half))
	b1, b2 := b.centre.Add(b.along.Mul(b.half)), b.centre.Sub(b.along.Mul(b.half))
	onA, onB = a1, b.nearest(a1)
	least = square(onA.Sub(onB))
	if q := b.nearest(a2); square(a2.Sub(q)) < least {
		onA, onB, least = a2, q, square(a2.Sub(q))
	}
	if q := a.nearest(b1); square(b1.Sub(q)) < least {
		onA, onB, least = q, b1, square(b1.Sub(q))
	}
	if q := a.nearest(b2); square(b2.Sub(q)) < least {
		onA, onB, least = q, b2, square(b2.Sub(q))
	}
	return onA, onB, least
}

// crossing returns the common point of two segments. Touching ends count; parallel segments never do.
func crossing(a, b segment) (Vec, bool) {
	r, s := a.along.Mul(2*a.half), b.along.Mul(2*b.half)
	start := b.centre.Sub(s.Mul(0.5)).Sub(a.centre.Sub(r.Mul(0.5)))
	d := r.Cross(s)
	if d == 0 {
		return Vec{}, false
	}
	t, u := start.Cross(s)/d, start.Cross(r)/d
	if t < 0 || t > 1 || u < 0 || u > 1 {
		return Vec{}, false
	}
	return a.centre.Sub(r.Mul(0.5)).Add(r.Mul(t)), true
}

func square(v Vec) float32 { return v.Dot(v) }

// Distance returns the gap between the surfaces of bodies a and b in environment c, less lineReach for lines and
// boxes. It is negative if they overlap, and −1 for a sphere inside a box. Collision filters play no part.
func (w *World) Distance(c, a, b int) float32 {
	if w.body[a].shape.Kind < w.body[b].shape.Kind {
		a, b = b, a
	}
	posA, bodyA, bodyB := w.Pos(c, a), &w.body[a], &w.body[b]
	kind := kindOf(bodyA.shape.Kind, bodyB.shape.Kind)
	onA, onB := touching(kind, w.placed(c, a), w.placed(c, b))
	d := onA.Sub(onB).Norm() - bodyA.shape.Radius - bodyB.shape.Radius
	if kind != sphereSphere {
		d -= lineReach
	}
	if kind == boxSphere && (d < 0 || w.Pos(c, b).Sub(posA).Norm() < onA.Sub(posA).Norm()) {
		return -1
	}
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
	return w.Distance(c, a, b) < 0
}
