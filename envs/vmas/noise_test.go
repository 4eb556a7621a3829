// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/rng"
)

// noisy returns the config with the default noise region.
func noisy(cfg envs.Config) envs.Config {
	shared := cfg.Shared()
	shared.Noise = envs.DefaultNoise()
	return cfg.WithShared(shared)
}

func TestNoisyTasksKeepTheContract(t *testing.T) {
	envtest.Check(t, noisy(DefaultBallTrajectory()))
	envtest.Check(t, noisy(DefaultSimpleAdversary()))
}

// Two runs have equal actions. The one with noise differs only in the observations of agents in the noise region and in
// their part of the state. All these numbers differ, anew at every step.
func TestNoiseChangesWhatIsSeenInTheBoxAndNothingElse(t *testing.T) {
	const numEnvs = 20
	clean, covered := buildNumEnvs(t, DefaultWheel(), numEnvs), buildNumEnvs(t, noisy(DefaultWheel()), numEnvs)
	want, got := envs.NewStep(clean.Spec()), envs.NewStep(covered.Spec())
	act, r, n, o := envs.NewActions(clean.Spec()), rng.New(1, "noise test"), clean.spec.Agents, clean.spec.Obs[0]
	inside, before := 0, make([]float32, len(got.Obs))
	for range 50 {
		for k := range act.Continuous {
			act.Continuous[k] = r.Uniform(-1, 1)
		}
		clean.Step(act, want)
		covered.Step(act, got)
		if !slices.Equal(got.Dense, want.Dense) || !slices.Equal(got.Visible, want.Visible) ||
			!slices.Equal(got.RelPos, want.RelPos) {
			t.Fatal("noise changes rewards or labels")
		}
		if !slices.Equal(got.State, got.Obs) {
			t.Fatal("the state is not the concatenation of the observations")
		}
		for row := range numEnvs * n {
			pos := clean.world.Pos(row/n, clean.world.Agent(row%n))
			in := abs(pos.X) <= 0.5 && abs(pos.Y) <= 0.5
			for i := row * o; i < (row+1)*o; i++ {
				if in == (got.Obs[i] == want.Obs[i]) || in && got.Obs[i] == before[i] {
					t.Fatalf("agent at %v observes %g, without noise %g, a step ago %g", pos, got.Obs[i], want.Obs[i], before[i])
				}
			}
			if in {
				inside++
			}
		}
		copy(before, got.Obs)
	}
	if inside < 100 || inside > 50*numEnvs*n-100 {
		t.Errorf("%d of %d observations are in the noise region; the test needs some but not all", inside, 50*numEnvs*n)
	}
}

func TestNoiseIsDrawnUnderEverythingElse(t *testing.T) {
	first := buildNumEnvs(t, noisy(DefaultDispersion()), 1).Scene(0).Shapes[0]
	if first.Role != envs.RoleNoise || first.Width != 1 || first.Height != 1 || first.X != 0 || first.Y != 0 {
		t.Errorf("the first shape is %+v, want the noise region", first)
	}
	for _, s := range buildNumEnvs(t, DefaultDispersion(), 1).Scene(0).Shapes {
		if s.Role == envs.RoleNoise {
			t.Error("a noise region is drawn without noise")
		}
	}
}
