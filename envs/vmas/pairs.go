// SPDX-License-Identifier: Apache-2.0

package vmas

import "slices"

// pairKind says which two shapes meet. Kinds are numbered in the order in which the forces of contacts are summed.
type pairKind uint8

const (
	sphereSphere pairKind = iota
	lineSphere
	lineLine
	boxSphere
	boxLine
	boxBox
)

// pair is two bodies that can collide. a has the kind of shape that comes first in the name of the pairKind.
type pair struct {
	a, b  int32
	kind  pairKind
	reach float32 // distance of the surfaces' contact points below which they push; boxes add their depth
	near  float32 // square of the distance of centres above which they cannot touch
	alongA, acrossA,
	alongB, acrossB float32 // the same for the offset of centres in the frame of a, and in that of b
}

// collisionPairs lists every pair in which both bodies collide, at least one can move or turn, and nothing excludes it.
// Bodies joined without distance never collide.
//
// Deviation: the original asks for bounding circles that leave out lineReach, and keeps a pair if they touch in any environment of
// the batch. Here each environment decides for itself with circles that include lineReach, which never drops a force: the same
// result as a large batch of the original gives, and none that depends on other environments.
func collisionPairs(s *WorldSpec) []pair {
	ignored := slices.Clone(s.Ignore)
	for _, j := range s.Joints {
		if j.Dist == 0 {
			ignored = append(ignored, [2]int{j.A, j.B})
		}
	}
	var pairs []pair
	count := len(s.Landmarks) + len(s.Agents)
	for i := range count {
		for j := i + 1; j < count; j++ {
			a, b := s.body(i), s.body(j)
			moves := a.Movable || a.Rotatable || b.Movable || b.Rotatable
			skip := slices.Contains(ignored, [2]int{i, j}) || slices.Contains(ignored, [2]int{j, i})
			if a.Collides && b.Collides && moves && !skip {
				pairs = append(pairs, newPair(s, i, j))
			}
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return int(p.kind) - int(q.kind) })
	return pairs
}

func newPair(s *WorldSpec, i, j int) pair {
	if s.body(i).Shape.Kind < s.body(j).Shape.Kind {
		i, j = j, i
	}
	a, b := s.body(i).Shape, s.body(j).Shape
	p := pair{a: int32(i), b: int32(j), kind: kindOf(a.Kind, b.Kind), reach: a.Radius + b.Radius}
	if a.Kind != SphereShape {
		p.reach += lineReach
	}
	// One part in a thousand keeps rounding from culling a pair that just touches.
	slack := 1.001 * (a.Bound() + b.Bound() + lineReach)
	p.near = slack * slack
	p.alongA, p.acrossA = a.Length/2+1.001*(b.Bound()+lineReach), a.Width/2+1.001*(b.Bound()+lineReach)
	p.alongB, p.acrossB = b.Length/2+1.001*(a.Bound()+lineReach), b.Width/2+1.001*(a.Bound()+lineReach)
	return p
}

// kindOf requires a ≥ b.
func kindOf(a, b ShapeKind) pairKind { return pairKind(a*(a+1)/2 + b) }

// apart reports cheaply that the bodies of p cannot push each other. offset is b's centre minus a's.
func (p *pair) apart(offset, headingA, headingB Vec) bool {
	if offset.Dot(offset) > p.near {
		return true
	}
	if p.kind == sphereSphere {
		return false
	}
	if abs(offset.Dot(headingA)) > p.alongA || abs(offset.Dot(headingA.Left())) > p.acrossA {
		return true
	}
	if p.kind == lineSphere || p.kind == boxSphere {
		return false
	}
	return abs(offset.Dot(headingB)) > p.alongB || abs(offset.Dot(headingB.Left())) > p.acrossB
}
