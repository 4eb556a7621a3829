// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// lift builds one environment of balance and returns a function. It puts the package at a share of the way to the goal,
// with nothing on the floor. Then it takes a step and returns the sparse reward.
func lift(t *testing.T, cfg Balance) (e *env, out *envs.Step, to func(share float32) []float32) {
	t.Helper()
	cfg.NumEnvs = 1
	e = must.Value(cfg.Build(1, 1)).(*env)
	out = envs.NewStep(e.Spec())
	act := envs.NewActions(e.Spec())
	e.Reset(nil, out)
	w := e.world
	start, goal := w.Pos(0, balancePackage), w.Pos(0, balanceGoal)
	way := goal.Sub(start)
	way = way.Mul(1 - 2*balanceRadius/way.Norm()) // up to the contact of the two
	w.Place(0, balanceLine, Vec{3, 0})            // out of the way and above the floor
	return e, out, func(share float32) []float32 {
		// Half a percent more, because the package falls during the step.
		w.Place(0, balancePackage, start.Add(way.Mul(share+0.005)))
		e.world.vel[balancePackage] = Vec{}
		e.Step(act, out)
		return append([]float32(nil), out.Sparse...)
	}
}

func TestSuccessPaysEveryAgentOnce(t *testing.T) {
	_, out, to := lift(t, DefaultBalance())
	for _, step := range []struct{ share, want float32 }{{0.2, 0}, {0.9, 0}, {1, 10}, {1, 0}, {0.5, 0}, {1, 0}} {
		for i, got := range to(step.share) {
			if got != step.want {
				t.Errorf("at %g of the way agent %d gets %g, want %g", step.share, i, got, step.want)
			}
		}
		if over := out.Terminated[0] != 0; over != (step.share == 1) {
			t.Errorf("at %g of the way, terminated is %v", step.share, over)
		}
	}
}

func TestMilestonesPayTheSameTotalInEqualParts(t *testing.T) {
	cfg := DefaultBalance()
	cfg.Milestones = 4
	_, _, to := lift(t, cfg)
	for _, step := range []struct{ share, want float32 }{
		{0.1, 0}, {0.3, 2.5}, {0.3, 0}, {0.2, 0}, {0.8, 5}, {0.99, 0}, {1, 2.5}, {1, 0},
	} {
		if got := to(step.share)[0]; got != step.want {
			t.Errorf("at %g of the way the agents get %g, want %g", step.share, got, step.want)
		}
	}
	_, _, to = lift(t, cfg)
	if got := to(1)[0]; got != 10 {
		t.Errorf("an immediate success gives %g, want the full 10", got)
	}
}

func TestFallEndsTheEpisodeWithoutPay(t *testing.T) {
	e, out, to := lift(t, DefaultBalance())
	e.world.Place(0, balanceLine, Vec{0, -0.95})
	e.world.Rotate(0, balanceLine, 0.3) // one end reaches below the floor's surface at -1.03
	if got := to(1)[0]; got != 0 || out.Terminated[0] == 0 {
		t.Errorf("with the line on the floor a package at the goal gives %g (terminated %d), want 0 (1)",
			got, out.Terminated[0])
	}
}

// Two agents rise with 4/9 of the acceleration of four and get 9/4 of their time. Too few agents to lift the package
// are an error.
func TestBalanceLeavesFewAgentsTheTimeThatTheyNeed(t *testing.T) {
	for _, c := range []struct {
		agents int
		mass   float32
		want   int
	}{{4, 5, 300}, {2, 5, 675}, {3, 5, 403}, {8, 5, 300}, {4, 20, 966}} {
		cfg := DefaultBalance()
		cfg.Agents, cfg.PackageMass = c.agents, c.mass
		env := must.Value(cfg.Build(1, 1))
		if s := env.Spec(); s.Horizon != c.want || s.SolvableIn != c.want || s.EvalHorizon != 100 {
			t.Errorf("%d agents and a mass of %g: horizon %d, solvable in %d, scored %d; want %d, %d and 100",
				c.agents, c.mass, s.Horizon, s.SolvableIn, s.EvalHorizon, c.want, c.want)
		}
	}
	cfg := DefaultBalance()
	cfg.PackageMass = 50
	_, err := cfg.Build(1, 1) // the package is too heavy to lift
	must.Refuse(t, err, "package_mass")
	cfg.Reward = envs.Dense
	must.Value(cfg.Build(1, 1))
}

func TestSparseHorizonFollowsTheSetting(t *testing.T) {
	for _, c := range []struct {
		reward  envs.Reward
		horizon SparseHorizon
		steps   int
		want    int
	}{
		{envs.Dense, Extended, 100, 100}, {envs.Sparse, Extended, 100, 300}, {envs.Sparse, Literal, 100, 100},
		{envs.Sparse, Extended, 400, 400},
	} {
		cfg := DefaultBalance()
		cfg.Reward, cfg.SparseHorizon, cfg.MaxSteps = c.reward, c.horizon, c.steps
		env := must.Value(cfg.Build(1, 1))
		if s := env.Spec(); s.Horizon != c.want || s.EvalHorizon != c.steps {
			t.Errorf("%+v: horizons %d and %d, want %d and %d", c, s.Horizon, s.EvalHorizon, c.want, c.steps)
		}
	}
}

// The score sums to the dense return within the benchmark's own horizon, for every training horizon.
func TestScoreStopsAtTheBenchmarksHorizon(t *testing.T) {
	cfg := DefaultBalance()
	cfg.MaxSteps = 10
	e, out, to := lift(t, cfg)
	for step := 1; step <= 12; step++ {
		to(0.5 + 0.01*float32(step))
		want := float32(0)
		if step <= 10 {
			want = out.Dense[0]
		}
		if got := out.Score[0]; math.Abs(float64(got-want)) > 1e-6*math.Abs(float64(want)) {
			t.Errorf("the score of step %d of %d is %g, want %g", step, e.spec.EvalHorizon, got, want)
		}
	}
}
