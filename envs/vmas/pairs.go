// SPDX-License-Identifier: Apache-2.0

package vmas

import "slices"

// pairKind is the combination of two shapes, numbered in the order in which contact forces are summed.
type pairKind uint8

const (
	sphereSphere pairKind = iota
	lineSphere
	lineLine
	boxSphere
	boxLine
	boxBox
)

// pair is two bodies that can collide; a's shape comes first in the name of kind.
type pair struct {
	a, b  int32
	kind  pairKind
	reach float32 // contact distance of the surfaces; boxes add their depth
	near  float32 // squared distance between centres above which they cannot touch
	alongA, acrossA,
	alongB, acrossB float32 // limits of the centres' offset in the frames of a and b, above which they cannot touch
}

// collisionPairs lists the pairs that can collide: both bodies collide, at least one can move or turn, and no
// exclusion applies. Bodies joined at distance 0 never collide.
//
// Deviation: the original culls by bounding circles without lineReach and keeps a pair if they touch in any
// environment of the batch. Here each environment culls for itself by circles that include lineReach, which never
// drops a force. The result equals that of a large batch of the original and is independent of other environments.
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
	// The margin of 0.1 % keeps rounding from culling a pair that just touches.
	slack := 1.001 * (a.Bound() + b.Bound() + lineReach)
	p.near = slack * slack
	p.alongA, p.acrossA = a.Length/2+1.001*(b.Bound()+lineReach), a.Width/2+1.001*(b.Bound()+lineReach)
	p.alongB, p.acrossB = b.Length/2+1.001*(a.Bound()+lineReach), b.Width/2+1.001*(a.Bound()+lineReach)
	return p
}

// kindOf requires a ≥ b.
func kindOf(a, b ShapeKind) pairKind { return pairKind(a*(a+1)/2 + b) }

// apart is a cheap sufficient test that the bodies of p do not touch. offset is b's centre minus a's.
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
