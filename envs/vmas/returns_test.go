// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// referenceReturns holds returns of simple policies in the original simulator at BenchMARL's defaults, by BenchMARL's
// metric: mean and standard deviation over 64 to 256 episodes. The recorded scripts differ from ours and are not
// optimal. So our script must be as good within one standard deviation, and below the upper bound.
var referenceReturns = []struct {
	task              envs.Config
	random, randomStd float64
	script, scriptStd float64
	bound             float64
}{
	{DefaultBalance(), -6.7, 6.0, 33.3, 9.3, 57.9},
	{DefaultBallTrajectory(), 0.03, 0.02, 0.20, 0.02, 0.5},
	{DefaultDispersion(), 0.23, 0.48, 4, 0, 4},
	{DefaultFlocking(), -0.18, 0.41, 0.03, 0.96, 2},
	{DefaultGiveWay(), -0.005, 0.13, 3.48, 0.01, 5},       // bound: two agents at 0.5 m/s for 5 s
	{DefaultNavigation(), -0.31, 0.90, 1.04, 0.27, 1.078}, // script: without collisions; the recorded one collided
	{DefaultPassage(), -404, 200, -491, 2012, 636},
	{DefaultSampling(), 3.1, 2.2, 15.9, 2.4, 100},       // bound: the field is at most 1
	{DefaultSimpleAdversary(), -39.3, 21, -5.8, 4.7, 0}, // standard deviations: ours, none were recorded
	{DefaultTransport(), -0.001, 0.009, 5.07, 1.74, 110},
	{DefaultWheel(), -4.98, 0.06, -3.98, 0.61, 0},
}

const episodes = 256

func TestRandomPolicyReturnsWhatItDoesInTheOriginal(t *testing.T) {
	for _, ref := range referenceReturns {
		mean, std := playOnce(t, ref.task, false)
		// Four standard errors of the difference of two means; the recorded mean is over at least 64 episodes.
		limit := 4 * math.Sqrt(std*std/episodes+ref.randomStd*ref.randomStd/64)
		t.Logf("%s: %.3f ± %.3f, original %.3f ± %.3f", ref.task.Kind(), mean, std, ref.random, ref.randomStd)
		if math.Abs(mean-ref.random) > limit {
			t.Errorf("%s: mean return is %.3f, want %.3f within %.3f", ref.task.Kind(), mean, ref.random, limit)
		}
	}
}

func TestScriptsReturnAsMuchAsInTheOriginal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many episodes")
	}
	for _, ref := range referenceReturns {
		mean, std := playOnce(t, ref.task, true)
		t.Logf("%s: %.3f ± %.3f, original %.3f ± %.3f", ref.task.Kind(), mean, std, ref.script, ref.scriptStd)
		chance := 4 * std / math.Sqrt(episodes) // because some bounds are expectations
		if mean < ref.script-ref.scriptStd || mean > ref.bound+chance {
			t.Errorf("%s: mean return is %.3f, want at least %.3f and at most %.3f",
				ref.task.Kind(), mean, ref.script-ref.scriptStd, ref.bound)
		}
	}
}

// playOnce runs one evaluation episode in each parallel environment and returns the mean and standard deviation of
// the score.
func playOnce(t *testing.T, cfg envs.Config, scripted bool) (mean, std float64) {
	t.Helper()
	e := must.Value(cfg.WithShared(envs.Common{NumEnvs: episodes, Reward: envs.Dense}).Build(11, 1)).(*env)
	e.Reset(nil, envs.NewStep(e.Spec()))
	spec, r, sum := e.Spec(), rng.New(3, "random policy"), make([]float64, episodes)
	playFirst(t, e, spec.EvalHorizon, func(act *envs.Actions) {
		for k := range act.Continuous {
			if d := k % spec.Act.Dim; !scripted {
				act.Continuous[k] = r.Uniform(spec.Act.Low[d], spec.Act.High[d])
			}
		}
	}, func(c int, out *envs.Step) { sum[c] += float64(out.Score[c]) })
	return stat.MeanStdDev(sum, nil)
}
