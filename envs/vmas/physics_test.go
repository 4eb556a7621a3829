// SPDX-License-Identifier: Apache-2.0

package vmas

import "testing"

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
// original tests bounding circles in any environment; this engine tests those of the same environment, as the
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
