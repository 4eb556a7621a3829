// SPDX-License-Identifier: Apache-2.0

package vmas

import "testing"

// Every step of the recorded worlds of free bodies is repeated from the recorded state before it.
func TestPhysicsFollowsRecordings(t *testing.T) {
	tol := tolerances(t)
	for _, g := range goldens(t, "physics") {
		t.Run(g.key, func(t *testing.T) {
			m := newMeter(t, tol(g.key).OneStep)
			defer m.report()
			w := newWorld(g.spec(), g.Copies)
			checkBodies(t, g, w)
			skip := skipped(g)
			actions := decode[[][][2]float32](t, g.Actions)
			for at := range g.T {
				g.seat(w, at)
				for c := range g.Copies {
					compareSight(m, g, w, at, c)
					agent := &w.spec.Agents[0]
					u := Vec{actions[at][c][0], actions[at][c][1]}.Clamp(agent.Range).Mul(agent.Gain)
					w.push[c*w.agents] = agent.limit(u)
					w.step(c)
					if !skip[[2]int{at, c}] {
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

// skipped lists the (step, copy) pairs whose recording depends on other copies of the batch. Where motion does, the
// original left out a contact by its bounding circles, which this engine, that never leaves out a force, computes. Where
// only rewards do, they asked for the circles of other copies; ours ask for those of their own copy, as the original does
// in a batch of one.
func skipped(g *golden) map[[2]int]bool {
	skip := map[[2]int]bool{}
	mark := func(entries [][]float64, motion bool) {
		for _, entry := range entries { // step, copy, largest difference of states and observations, of rewards
			if motion == (entry[2] != 0) {
				skip[[2]int{int(entry[0]), int(entry[1])}] = true
			}
		}
	}
	mark(g.CullDependent, true)
	mark(g.BatchCoupled, false)
	return skip
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

// compareSight compares distances, overlaps and lidar of the seated state.
func compareSight(m *meter, g *golden, w *World, at, c int) {
	m.tol["distance"] = 1e-5 // the recordings' own figure for distances
	for k, pair := range g.Pairs {
		want := g.Distances[at][k][c]
		m.same("distance", w.Distance(c, pair[0], pair[1]), want, at, c, pair)
		// A distance within rounding of 0 may fall on either side.
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
