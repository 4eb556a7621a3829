// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

// Recordings do not exercise resets, where the peak is computed, but they list it with the Gaussians.
func TestSamplingFieldHasTheRecordedPeak(t *testing.T) {
	found := 0
	for _, g := range goldens(t, "scenario") {
		if g.Scenario != "sampling" {
			continue
		}
		found++
		s := g.build(t).task.(*sampling)
		centres, peaks := flat(t, g.InternalsStatic["locs"]), flat(t, g.InternalsStatic["max_pdf"])
		for c, want := range peaks {
			got := s.peak(centres[c*2*s.Gaussians : (c+1)*2*s.Gaussians])
			if math.Abs(float64(got-want)) > 1e-5*float64(want) { // float32 exponentials of sums and of differences
				t.Errorf("%s, environment %d: peak is %g, want %g", g.key, c, got, want)
			}
		}
	}
	if found == 0 && envtest.OwnRecordings() {
		t.Error("no recording of sampling")
	}
}

func TestSamplingPaysACellOnceAndItsFirstAgent(t *testing.T) {
	e := buildNumEnvs(t, DefaultSampling(), 1)
	out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
	w, m := e.world, e.task.(*sampling).memory(e.world, 0)
	place := func(i int, p Vec) { w.Place(0, w.Agent(i), p) }
	copy(m.centres, []float32{0.5, 0.5, 0.5, 0.5, 0.5, 0.5})
	place(0, Vec{0.505, 0.505})
	place(1, Vec{0.545, 0.545}) // in the same cell, without contact
	place(2, Vec{-0.5, -0.5})
	e.Step(act, out)
	if out.Dense[0] <= 0 || out.Dense[1] != 0 || out.Dense[2] <= 0 {
		t.Errorf("rewards %v, want some for agents 0 and 2 and none for agent 1, the second in its cell", out.Dense)
	}
	before := out.Dense[0]
	place(0, Vec{-0.9, 0.9})
	place(1, Vec{0.51, 0.51})
	e.Step(act, out)
	if out.Dense[1] != 0 {
		t.Errorf("a cell that gave %g gives another %g", before, out.Dense[1])
	}
}

func TestSamplingSucceedsWhenEveryCentreWasVisited(t *testing.T) {
	e := buildNumEnvs(t, DefaultSampling(), 1)
	out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
	w, m := e.world, e.task.(*sampling).memory(e.world, 0)
	copy(m.centres, []float32{-0.5, -0.5, 0, 0, 0.5, 0.5})
	for i := range 3 {
		w.Place(0, w.Agent(i), Vec{-0.9, 0.1 * float32(i)})
	}
	for k, step := range []struct {
		at       Vec
		progress float32
		paid     float32
	}{
		{Vec{-0.5, -0.574}, 1. / 3, 0}, {Vec{0, 0.076}, 1. / 3, 0}, {Vec{0.074, 0}, 2. / 3, 0},
		{Vec{0.5, 0.45}, 1, 10}, {Vec{0.5, 0.45}, 1, 0},
	} {
		w.Place(0, w.Agent(k%3), step.at)
		e.Step(act, out)
		if got := e.progresser.Progress(w, 0); got != step.progress || out.Sparse[0] != step.paid || out.Terminated[0] != 0 {
			t.Errorf("visit %d: progress %g, reward %g; want %g and %g, and no end",
				k, got, out.Sparse[0], step.progress, step.paid)
		}
	}
}

// A rod spans the two bodies that it joins, in either order of its ends.
func TestRodsArePlacedBetweenTheirBodies(t *testing.T) {
	e := buildNumEnvs(t, DefaultBallTrajectory(), 50)
	w, sides := e.world, map[bool]int{}
	for c := range e.spec.NumEnvs {
		for i := range ballAgents {
			rod, agent, ball := w.Pos(c, 1+i), w.Pos(c, w.Agent(i)), w.Pos(c, 0)
			half := headingOf(w.Rot(c, 1+i)).Mul(ballRodLength / 2)
			// The tolerance is rounding.
			if from, to := rod.Sub(half).Sub(agent), rod.Add(half).Sub(ball); from.Norm() > 1e-6 || to.Norm() > 1e-6 {
				t.Errorf("environment %d: the ends of rod %d are %v and %v away from agent and ball", c, i, from, to)
			}
			if i == 0 {
				sides[agent.X < ball.X]++
			}
		}
	}
	if len(sides) != 2 {
		t.Error("the first agent always starts on the same side")
	}
}

// A ball exactly at the origin has no distance from the circle, as in the original.
func TestBallAtTheOriginIsOnTheCircle(t *testing.T) {
	e := buildNumEnvs(t, configOf(t, `{"kind":"vmas/ball_trajectory","pos_shaping_factor":1,"speed_shaping_factor":0}`), 1)
	for _, c := range []struct {
		at   Vec
		want float32
	}{{Vec{}, 0}, {Vec{0.5, 0}, 0}, {Vec{0.25, 0}, 0.5}, {Vec{0, 0.75}, 0.5}} {
		e.world.Place(0, 0, c.at)
		e.task.(*ballTrajectory).updateErrors(e.world, 0)
		if got := e.term(0, "pos_shaping")[0]; got != c.want {
			t.Errorf("a ball at %v is off by %g, want %g", c.at, got, c.want)
		}
	}
}

// The script eats everything: four pieces give each agent a return of 4 in both streams and disappear from the scene.
func TestDispersionPaysForEveryPieceAndDrawsItNoMore(t *testing.T) {
	e := buildNumEnvs(t, DefaultDispersion(), 16)
	n, sum, over := e.spec.Agents, make([]float32, 16), make([]bool, 16)
	playFirst(t, e, e.spec.Horizon, func(*envs.Actions) {}, func(c int, out *envs.Step) {
		if out.Sparse[c*n] != out.Dense[c*n] {
			t.Fatalf("environment %d: sparse %g, dense %g; want the same", c, out.Sparse[c*n], out.Dense[c*n])
		}
		sum[c] += out.Sparse[c*n]
		over[c] = out.Terminated[c] != 0
		food := 0
		for _, s := range e.Scene(c).Shapes {
			if s.Role == envs.RoleTarget {
				food++
			}
		}
		if want := 4 - int(sum[c]); food != want || over[c] != (want == 0) {
			t.Fatalf("environment %d: %d pieces drawn, over is %v; want %d pieces", c, food, over[c], want)
		}
	})
	for c := range over {
		if !over[c] || sum[c] != 4 {
			t.Errorf("environment %d: over is %v after a return of %g, want an end at a return of 4", c, over[c], sum[c])
		}
		if !e.spec.Succeeds(float64(sum[c])) || e.spec.Succeeds(3) {
			t.Error("success must require all food, and nothing else")
		}
	}
}

// A flock is a success unless one of its agents touches an obstacle.
func TestFlocksThatTouchAnObstacleAreNotPaid(t *testing.T) {
	e := buildNumEnvs(t, DefaultFlocking(), 1)
	out, act, w := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), e.world
	step := func(obstacle Vec, spread float32) float32 {
		for b := range w.landmarks {
			w.Place(0, b, Vec{-1, float32(b)})
		}
		w.Place(0, 0, obstacle)
		for i, place := range []Vec{{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}} { // the target, then agents
			w.Place(0, w.Agent(i), place.Mul(spread))
			w.vel[w.at(0, w.Agent(i))] = Vec{}
		}
		e.Step(act, out)
		return out.Sparse[0]
	}
	near := Vec{0.125 + 0.05 + 0.1 + 0.004, 0} // 0.004 from agent 0
	for i, part := range []struct {
		obstacle Vec
		spread   float32
		want     float32
	}{{near, 0.125, 0}, {Vec{1, 0}, 0.3, 0}, {Vec{1, 0}, 0.125, 10}, {Vec{1, 0}, 0.125, 0}} {
		if got := step(part.obstacle, part.spread); got != part.want {
			t.Errorf("part %d: agents in a ring of %g with an obstacle at %v get %g, want %g",
				i, part.spread, part.obstacle, got, part.want)
		}
	}
}

// The metric is the mean of the teams' means, for all team sizes.
func TestScoreWeighsTeamsEqually(t *testing.T) {
	cfg := DefaultSimpleAdversary()
	cfg.Agents = 5
	e := buildNumEnvs(t, cfg, 1)
	if want := []int{0, 1, 1, 1, 1}; !slices.Equal(e.spec.Teams, want) {
		t.Fatalf("teams are %v, want %v", e.spec.Teams, want)
	}
	out := envs.NewStep(e.Spec())
	e.Step(envs.NewActions(e.Spec()), out)
	d := out.Dense
	if want := (d[0] + (d[1]+d[2]+d[3]+d[4])/4) / 2; abs(out.Score[0]-want) > 1e-6 { // some float32 roundings below 1
		t.Errorf("rewards %v have score %g, want %g", d, out.Score[0], want)
	}
	if !slices.Equal(out.Sparse, d) {
		t.Errorf("rewards %v and %v differ in a task that has one reward", d, out.Sparse)
	}
}

// TestGoalOfWorld checks that environments share a goal that changes between episodes, unless each draws its own.
func TestGoalOfWorld(t *testing.T) {
	for goal, shared := range map[GoalDraw]bool{GoalOfWorld: true, GoalOfEnv: false} {
		cfg := DefaultSimpleAdversary()
		cfg.Goal, cfg.NumEnvs = goal, 8
		e := must.Value(cfg.Build(1, 1)).(*env)
		out := envs.NewStep(e.Spec())
		seen, mixed := map[float32]bool{}, false
		for range 20 {
			e.Reset(nil, out)
			for c := range cfg.NumEnvs {
				seen[e.world.Memory(c)[0]] = true
				mixed = mixed || e.world.Memory(c)[0] != e.world.Memory(0)[0]
			}
		}
		if len(seen) != 2 || mixed == shared {
			t.Errorf("goal=%s: %d goals in 20 episodes, environments differ: %v; want 2 goals, %v",
				goal, len(seen), mixed, !shared)
		}
	}
}

// Nine steps at the right speed and a wrong one give no reward; ten consecutive steps do, in either direction, but
// only once.
func TestWheelPaysForHoldingTheSpeedNotForPassingThroughIt(t *testing.T) {
	e := buildNumEnvs(t, DefaultWheel(), 1)
	out, act, w := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), e.world
	for i := range e.spec.Agents {
		w.Place(0, w.Agent(i), Vec{3, float32(i)}) // out of reach
	}
	turn := func(speed float32, steps int) (paid float32) {
		for range steps {
			w.spin[wheelLine] = speed / w.body[wheelLine].keep
			e.Step(act, out)
			paid += out.Sparse[0]
		}
		return paid
	}
	for i, part := range []struct {
		speed float32
		steps int
		want  float32
	}{{0.045, 9, 0}, {0.061, 1, 0}, {0.045, 9, 0}, {0.039, 1, 0}, {-0.055, 9, 0}, {-0.045, 1, 10}, {0.05, 30, 0}} {
		if got := turn(part.speed, part.steps); got != part.want {
			t.Errorf("part %d: %d steps at speed %g give %g, want %g", i, part.steps, part.speed, got, part.want)
		}
	}
}
