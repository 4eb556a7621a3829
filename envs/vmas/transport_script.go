// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

// Script pushes the first package that is not at the goal. A push acts across a face only, so the agents split over
// the two faces behind the direction to the goal, in proportion to the direction's components. Agents take the face
// that they are further behind, and keep their order along it.
func (t *transport) Script(w *World, c, agent int) Vec {
	_, onGoal, _ := t.memory(w, c)
	load := 1
	for load < t.Packages && onGoal[load-1] != 0 {
		load++
	}
	way := w.Pos(c, 0).Sub(w.Pos(c, load))
	aheadX, aheadY := Vec{side(way.X), 0}, Vec{0, side(way.Y)}
	onX := int(math.Round(float64(float32(t.Agents) * abs(way.X) / (abs(way.X) + abs(way.Y)))))
	preference := aheadX.Sub(aheadY)
	takesX := func(i int) bool { return t.rank(w, c, i, preference, nil) < onX }
	size := t.shape()
	f := face{load, aheadX, size.Length / 2, size.Width / 2}
	if !takesX(agent) {
		f = face{load, aheadY, size.Width / 2, size.Length / 2}
	}
	mates, mine := 0, takesX(agent)
	for i := range t.Agents {
		if takesX(i) == mine {
			mates++
		}
	}
	place := t.rank(w, c, agent, f.ahead.Left(), func(i int) bool { return takesX(i) == mine })
	return t.shove(w, c, agent, f, place, mates)
}

// rank counts the agents that are less far in a direction than the given one; among, if not nil, selects them.
func (t *transport) rank(w *World, c, agent int, direction Vec, among func(int) bool) int {
	own, n := w.Pos(c, w.Agent(agent)).Dot(direction), 0
	for i := range t.Agents {
		x := w.Pos(c, w.Agent(i)).Dot(direction)
		if (x < own || x == own && i < agent) && (among == nil || among(i)) {
			n++
		}
	}
	return n
}

// face is a side of a package that faces away from the direction to push.
type face struct {
	load        int     // the package
	ahead       Vec     // direction of the push
	depth, half float32 // distance from the package's centre, half the width
}

// shove moves an agent around the package to its place among mates at a face, and pushes there.
func (t *transport) shove(w *World, c, agent int, f face, place, mates int) Vec {
	const r = transportAgentRadius
	self := w.Agent(agent)
	offset, vel := w.Pos(c, self).Sub(w.Pos(c, f.load)), w.Vel(c, self)
	along, across := offset.Dot(f.ahead), offset.Dot(f.ahead.Left())
	contact := -f.depth - r
	lateral := (float32(place) - float32(mates-1)/2) * 2.05 * r
	goal := Vec{contact, lateral}
	behind := along < contact+r/2 // pushing presses it a little into the package
	switch {
	case !behind && abs(across) < f.half+r:
		goal = Vec{along, (f.half + 3*r) * side(across)} // sideways, from in front of or beside the package
	case !behind:
		goal = Vec{contact - 2*r, (f.half + 3*r) * side(across)} // along its side
	case abs(across) < f.half || abs(across-lateral) < r/2:
		goal.X += 1 // push
	}
	u := goal.Sub(Vec{along, across}).Mul(10).Sub(Vec{vel.Dot(f.ahead), vel.Dot(f.ahead.Left())}.Mul(3))
	return f.ahead.Mul(u.X).Add(f.ahead.Left().Mul(u.Y))
}

// side is 1 or −1.
func side(x float32) float32 {
	if x < 0 {
		return -1
	}
	return 1
}
