// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"testing"

	"cermic/envs/rng"
)

// crowd is a world of n freely moving and turning bodies of every shape, so close together that most of them touch.
func crowd(n, numEnvs int, r *rng.Rand) *World {
	spec := DefaultWorld()
	spec.Drag, spec.Substeps = 0, 3
	shapes := []Shape{Sphere(0.1), Line(0.4), Box(0.3, 0.16), {Kind: BoxShape, Length: 0.2, Width: 0.3, Hollow: true}}
	for b := range n {
		body := Body{Name: "body", Shape: shapes[b%len(shapes)], Mass: 1 + float32(b%3), Movable: true,
			Rotatable: true, Collides: true}
		spec.Landmarks = append(spec.Landmarks, body)
	}
	spec.Agents = []Agent{DefaultAgent("agent", 0.05)}
	spec.Joints = []Joint{{A: 0, B: 1, AnchorB: Vec{0.2, 0}, Dist: 0.1, Rotate: true}, {A: 2, B: n, Rotate: true}}
	w := newWorld(spec, numEnvs)
	for c := range numEnvs {
		for b := range w.count {
			w.Place(c, b, Vec{r.Uniform(-0.5, 0.5), r.Uniform(-0.5, 0.5)})
			w.Rotate(c, b, r.Uniform(-4, 4))
			w.vel[w.at(c, b)] = Vec{r.Uniform(-1, 1), r.Uniform(-1, 1)}
		}
		w.orient(c)
	}
	return w
}

// Contacts and joints exert opposite forces on two bodies, so without drag the total momentum is conserved.
func TestForcesConserveMomentum(t *testing.T) {
	w := crowd(8, 20, rng.New(1, "momentum"))
	momentum := func(c int) (sum Vec) {
		for b := range w.body {
			sum = sum.Add(w.Vel(c, b).Mul(w.body[b].mass))
		}
		return sum
	}
	for c := range w.numEnvs {
		before := momentum(c)
		for range 5 {
			w.step(c)
		}
		// The forces, about 100 newtons a pair, cancel up to a few float32 roundings each.
		if off := momentum(c).Sub(before).Norm(); !(off <= 1e-4) {
			t.Errorf("momentum of environment %d changes by %g", c, off)
		}
	}
}

// Culling of distant pairs must not change a single bit.
func TestCullingDropsNoForce(t *testing.T) {
	culled, whole := crowd(8, 200, rng.New(2, "culling")), crowd(8, 200, rng.New(2, "culling"))
	far := float32(math.Inf(1))
	for i := range whole.pairs {
		p := &whole.pairs[i]
		p.near, p.alongA, p.acrossA, p.alongB, p.acrossB = far, far, far, far, far
	}
	skipped := 0
	for c := range culled.numEnvs {
		for i := range culled.pairs {
			p := &culled.pairs[i]
			a, b := culled.at(c, int(p.a)), culled.at(c, int(p.b))
			if p.apart(culled.pos[b].Sub(culled.pos[a]), culled.heading[a], culled.heading[b]) {
				skipped++
			}
		}
		culled.step(c)
		whole.step(c)
		for b := range culled.body {
			i := culled.at(c, b)
			if culled.pos[i] != whole.pos[i] || culled.rot[i] != whole.rot[i] {
				t.Fatalf("body %d of environment %d: %v without culling, %v with", b, c, whole.pos[i], culled.pos[i])
			}
		}
	}
	if all := len(culled.pairs) * culled.numEnvs; skipped < all/10 || skipped > all*9/10 {
		t.Errorf("%d of %d pairs are culled; the test needs some but not all", skipped, all)
	}
}
