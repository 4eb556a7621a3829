// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

// Hinge joins bodies a and b by a rod that turns freely about both centres. The rod is a landmark of its own, made by
// Rod.
func (s *WorldSpec) Hinge(rod, a, b int) {
	half := s.body(rod).Shape.Length / 2
	s.Joints = append(s.Joints,
		Joint{A: rod, B: a, AnchorA: Vec{-half, 0}, Rotate: true},
		Joint{A: rod, B: b, AnchorA: Vec{half, 0}, Rotate: true})
}

// Rod returns the landmark for a rod: it moves and turns but collides with nothing.
func Rod(name string, length float32) Body {
	return Body{Name: name, Shape: Line(length), Mass: 1, Movable: true, Rotatable: true}
}

// PlaceRod places a rod from body a to body b of environment c, after both are placed.
func (w *World) PlaceRod(c, rod, a, b int) {
	from, to := w.Pos(c, a), w.Pos(c, b)
	way := to.Sub(from)
	w.Place(c, rod, from.Add(to).Mul(0.5))
	w.Rotate(c, rod, float32(math.Atan2(float64(way.Y), float64(way.X))))
}
