// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/rng"
)

// With a delay, agents move like agents without delay that get the same actions later. Actions queued at the end of an
// episode take effect at the beginning of the next one.
func TestGiveWayObeysLate(t *testing.T) {
	const delay, numEnvs = 3, 4
	late := buildNumEnvs(t, configOf(t, `{"kind":"vmas/give_way","dt_delay":3,"max_steps":20}`), numEnvs)
	prompt := buildNumEnvs(t, configOf(t, `{"kind":"vmas/give_way","max_steps":20}`), numEnvs)
	x, y, act, told := envs.NewStep(late.Spec()), envs.NewStep(prompt.Spec()), envs.NewActions(late.Spec()),
		envs.NewActions(late.Spec())
	queue, r := make([][]float32, delay), rng.New(2, "late")
	for k := range queue {
		queue[k] = make([]float32, len(act.Continuous))
	}
	for step := range 60 {
		if step%20 == 13 { // in the middle of an episode, in some environments only
			mask := []uint8{1, 0, 1, 0}
			late.Reset(mask, x)
			prompt.Reset(mask, y)
		}
		for k := range act.Continuous {
			act.Continuous[k] = r.Uniform(-0.7, 0.7) // also beyond the range of 0.5
		}
		queue = append(queue, slices.Clone(act.Continuous))
		copy(told.Continuous, queue[0])
		queue = queue[1:]
		late.Step(act, x)
		prompt.Step(told, y)
		if !slices.Equal(x.Obs, y.Obs) || !slices.Equal(x.Dense, y.Dense) {
			t.Fatalf("at step %d agents do not follow the action of %d steps ago", step, delay)
		}
		for c := range numEnvs {
			if got := late.term(c, "input_queue")[2*delay-2]; got != clamp(act.Continuous[4*c], 0.5) {
				t.Fatalf("the newest queued action is %g, want the current one clamped, %g", got, act.Continuous[4*c])
			}
		}
	}
}

// Each touched line costs its penalty, as does a touch of the other agent.
func TestGiveWayChargesForEachLine(t *testing.T) {
	const passage, obstacle, agents = -0.25, -0.5, -1.5
	far := Vec{0, 5}
	for _, mirrored := range []bool{false, true} {
		cfg := DefaultGiveWay()
		cfg.MirrorPassage, cfg.PassagePenalty, cfg.ObstaclePenalty, cfg.AgentPenalty = mirrored, passage, obstacle, agents
		e := buildNumEnvs(t, cfg, 1)
		task, dst := e.task.(*giveWay), make([]float32, 2)
		below := float32(obstacle) // the floor under the niche
		if mirrored {
			below = 0
		}
		for _, at := range []struct {
			places            [2]Vec
			obstacles, agents float32 // of the first agent
		}{
			{[2]Vec{{-2, 0}, far}, 0, 0},
			{[2]Vec{{0, 0.512}, far}, passage, 0},              // 0.0013 below the niche's end
			{[2]Vec{{0, 0.505}, far}, 0, 0},                    // 0.008 below it
			{[2]Vec{{0.035, 0.45}, far}, passage, 0},           // at its side
			{[2]Vec{{-0.035, 0.512}, far}, 2 * passage, 0},     // in its corner
			{[2]Vec{{-1.5, 0.035}, far}, obstacle, 0},          // under the ceiling
			{[2]Vec{{-1.5, -0.035}, far}, obstacle, 0},         // on the floor, or the ceiling of the lower niche
			{[2]Vec{{0, -0.035}, far}, below, 0},               //
			{[2]Vec{{2.335, -0.035}, far}, 2 * obstacle, 0},    // in the corridor's corner
			{[2]Vec{{-1, 0}, {-0.676, 0}}, 0, agents},          // 0.004 apart
			{[2]Vec{{-1, 0}, {-0.674, 0}}, 0, 0},               // 0.006 apart
			{[2]Vec{{-1, 0.035}, {-0.7, 0}}, obstacle, agents}, //
		} {
			e.world.Place(0, e.world.Agent(0), at.places[0])
			e.world.Place(0, e.world.Agent(1), at.places[1])
			task.Reward(e.world, 0, dst) // updates the stored distances
			task.Reward(e.world, 0, dst)
			gotObstacles, gotAgents := e.term(0, "obstacle_collision_rew")[0], e.term(0, "agent_collision_rew")
			if gotObstacles != at.obstacles || gotAgents[0] != at.agents || gotAgents[1] != at.agents ||
				dst[0] != at.obstacles+at.agents {
				t.Errorf("two niches %v, agents at %v: penalties %g and %v, reward %g; want penalties %g and %g",
					mirrored, at.places, gotObstacles, gotAgents, dst[0], at.obstacles, at.agents)
			}
		}
		if !mirrored {
			continue
		}
		e.world.Place(0, e.world.Agent(0), Vec{0.035, -0.512})
		task.Reward(e.world, 0, dst)
		if got := e.term(0, "obstacle_collision_rew")[0]; got != 2*passage {
			t.Errorf("in the corner of the lower niche: penalty %g, want %g", got, 2*passage)
		}
	}
}

// Noise is uniform within its bound, independent for every number, step and episode, and affects observations only.
// Recorded noise must pass the same test.
func TestObservationNoiseIsThatOfTheOriginal(t *testing.T) {
	for _, g := range goldens(t, "scenario") {
		if g.ObsClean == nil {
			continue
		}
		bound := float64(g.build(t).world.spec.ObsNoise)
		var theirs []float64
		for at := range g.Obs {
			for agent := range g.Obs[at] {
				for c := range g.Obs[at][agent] {
					for i, x := range g.Obs[at][agent][c] {
						theirs = append(theirs, float64(x-g.ObsClean[at][agent][c][i]))
					}
				}
			}
		}
		checkUniform(t, g.key, theirs, bound)
	}
	const bound = 0.05
	var ours []float64
	before := []float32(nil)
	clean, noisy := DefaultGiveWay(), DefaultGiveWay()
	clean.ObserveRelPos, noisy.ObserveRelPos, noisy.ObsNoise = true, true, bound
	a, b := buildNumEnvs(t, clean, 16), buildNumEnvs(t, noisy, 16)
	x, y, act, r := envs.NewStep(a.Spec()), envs.NewStep(b.Spec()), envs.NewActions(a.Spec()), rng.New(5, "noise")
	for range 100 {
		for k := range act.Continuous {
			act.Continuous[k] = r.Uniform(-1, 1)
		}
		a.Step(act, x)
		b.Step(act, y)
		if !slices.Equal(x.Dense, y.Dense) || !slices.Equal(x.Visible, y.Visible) ||
			!slices.Equal(x.RelPos, y.RelPos) || !slices.Equal(y.State, y.Obs) {
			t.Error("noise changes more than observations and the state built from them")
		}
		now := slices.Clone(y.Obs)
		for i := range now {
			now[i] -= x.Obs[i]
			ours = append(ours, float64(now[i]))
		}
		if slices.Equal(before, now) {
			t.Error("two steps have equal noise")
		}
		before = now
	}
	checkUniform(t, "ours", ours, bound)
}

// checkUniform is a Kolmogorov test at level 1e-4.
func checkUniform(t *testing.T, what string, sample []float64, bound float64) {
	t.Helper()
	slices.Sort(sample)
	n, worst := float64(len(sample)), 0.0
	for k, x := range sample {
		if math.Abs(x) > bound+1e-6 { // rounding of the sum
			t.Fatalf("%s: the noise is %g, want at most %g", what, x, bound)
		}
		worst = max(worst, math.Abs(float64(k)/n-(x+bound)/(2*bound)))
	}
	if len(sample) == 0 || worst > math.Sqrt(-math.Log(1e-4/2)/2/n) {
		t.Errorf("%s: the distribution of %d numbers differs by %g from a uniform one", what, len(sample), worst)
	}
}
