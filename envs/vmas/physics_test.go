// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"testing"

	"cermic/envs/rng"
)

// Repeats every step of the recorded worlds of free bodies from the recorded state before it.
func TestPhysicsFollowsRecordings(t *testing.T) {
	tol := tolerances(t)
	for _, g := range goldens(t, "physics") {
		t.Run(g.key, func(t *testing.T) {
			m := newMeter(t, tol(g.key).OneStep)
			defer m.report()
			w := newWorld(g.spec(), g.NumEnvs)
			checkBodies(t, g, w)
			skip := g.culled()
			actions := decode[[][][2]float32](t, g.Actions)
			for at := range g.T {
				g.seat(w, at)
				for c := range g.NumEnvs {
					compareSensors(m, g, w, at, c)
					agent := &w.spec.Agents[0]
					u := Vec{actions[at][c][0], actions[at][c][1]}.Clamp(agent.Range).Mul(agent.Gain)
					w.push[c*w.agents] = agent.limit(u)
					w.step(c)
					if !skip[moment{at, c}] {
						compareStates(m, g, w, at+1, c)
						compareForces(m, g, w, at, c)
					}
				}
			}
		})
	}
}

// checkBodies compares derived constants with the recorded ones.
func checkBodies(t *testing.T, g *golden, w *World) {
	t.Helper()
	for b, e := range g.Entities {
		near := func(x, y float32) bool { return abs(x-y) <= 1e-6*abs(y) } // some float32 roundings of a product
		if !near(w.body[b].inertia, e.Inertia) || !near(w.body[b].bound, e.Bound) {
			t.Errorf("%s: inertia %g and bounding radius %g, want %g and %g",
				e.Name, w.body[b].inertia, w.body[b].bound, e.Inertia, e.Bound)
		}
	}
}

// moment is a step and an environment of a recording.
type moment [2]int

// culled lists the moments at which the original omitted a contact because bounding circles were apart in all
// environments of the batch. This engine never omits one.
func (g *golden) culled() map[moment]bool {
	list := map[moment]bool{}
	for _, entry := range g.CullDependent { // step, environment, largest difference of states and observations, of rewards
		if entry[2] != 0 {
			list[moment{int(entry[0]), int(entry[1])}] = true
		}
	}
	return list
}

// batchDependent lists the moments at which rewards depend on other environments of the batch. In two tasks, the
// original tests bounding circles in any environment. This engine tests the circles of the same environment, as the
// original does in a batch of one.
func (g *golden) batchDependent() map[moment]bool {
	list := map[moment]bool{}
	for _, entry := range g.BatchCoupled {
		if entry[3] != 0 && (g.Scenario == "navigation" || g.Scenario == "give_way") {
			list[moment{int(entry[0]), int(entry[1])}] = true
		}
	}
	return list
}

func compareStates(m *meter, g *golden, w *World, at, c int) {
	for k, b := range g.dynamic() {
		i, want := w.at(c, b), g.States[at][c][k]
		m.same("pos", w.pos[i].X, want[0], "x", at, c, b)
		m.same("pos", w.pos[i].Y, want[1], "y", at, c, b)
		m.same("vel", w.vel[i].X, want[2], "x", at, c, b)
		m.same("vel", w.vel[i].Y, want[3], "y", at, c, b)
		m.same("rot", w.rot[i], want[4], at, c, b)
		m.same("ang_vel", w.spin[i], want[5], at, c, b)
	}
}

func compareForces(m *meter, g *golden, w *World, at, c int) {
	for b, want := range g.Force[at][c] {
		i := w.at(c, b)
		m.same("force", w.force[i].X, want[0], "x", at, c, b)
		m.same("force", w.force[i].Y, want[1], "y", at, c, b)
		m.same("force", w.torque[i], want[2], "torque", at, c, b)
	}
}

// compareSensors compares distances, overlaps and lidar of the recorded states.
func compareSensors(m *meter, g *golden, w *World, at, c int) {
	m.tol["distance"] = 1e-5 // the recordings' own tolerance of distances
	for k, pair := range g.Pairs {
		want := g.Distances[at][k][c]
		m.same("distance", w.Distance(c, pair[0], pair[1]), want, at, c, pair)
		// A distance within rounding of 0 may have either sign.
		if got := w.Overlap(c, pair[0], pair[1]); got != (g.Overlaps[at][k][c] != 0) && abs(want) > 1e-6 {
			m.fail("overlap", got, !got, []any{at, c, pair, want})
		}
	}
	if g.Lidar != nil {
		rays := make([]float32, len(g.Lidar[at][c]))
		w.Lidar(c, 0, rays)
		for k, want := range g.Lidar[at][c] {
			m.same("lidar", rays[k], want, at, c, k)
		}
	}
}

func TestSoftplusIsRightToTheLastBit(t *testing.T) {
	for z := float32(0); z < 25; z += 0.00137 {
		want := float64(z) + math.Log1p(math.Exp(-float64(z)))
		ulp := float64(math.Nextafter32(float32(want), math.MaxFloat32) - float32(want))
		// Half a unit from rounding, plus the table's error.
		if got := float64(softplus(z)); math.Abs(got-want) > 0.5*ulp+5e-9 {
			t.Fatalf("softplus(%g) is %.10g, want %.10g", z, got, want)
		}
	}
	if got := softplus(float32(math.NaN())); got == got {
		t.Errorf("softplus(NaN) is %g", got)
	}
}

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
