// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// referenceSuccess holds the fraction of episodes in which simple controllers in the original simulator had met the
// success predicate after steps, at BenchMARL's defaults.
var referenceSuccess = []struct {
	task  envs.Config
	steps int
	share float64
}{
	{DefaultFlocking(), 100, 0.29},
	{DefaultGiveWay(), 500, 1},
	{DefaultNavigation(), 100, 1},
	{DefaultPassage(), 200, 0.91},
	{DefaultPassage(), 500, 0.98},
	{DefaultSampling(), 100, 1},
	{DefaultTransport(), 500, 0.29},
	{DefaultWheel(), 100, 0.08}, // recorded for single steps at the right speed
}

// Our scripts differ, so they must succeed as often, minus four standard errors over 64 episodes.
func TestScriptsSucceedAsOftenAsInTheOriginal(t *testing.T) {
	const numEnvs = 64
	for _, ref := range referenceSuccess {
		e := buildNumEnvs(t, ref.task, numEnvs)
		count := successes(t, e, ref.steps)
		t.Logf("%s: %d of %d within %d steps, original %.0f %%", e.spec.Name, count, numEnvs, ref.steps, 100*ref.share)
		error4 := 4 * float64(sqrt(float32(ref.share*(1-ref.share)/numEnvs)))
		if share := float64(count) / numEnvs; share < ref.share-error4 {
			t.Errorf("%s: %.2f of the episodes succeed within %d steps, want %.2f", e.spec.Name, share, ref.steps, ref.share)
		}
	}
}

// successes counts the environments whose first episode is paid within steps.
func successes(t *testing.T, e *env, steps int) (count int) {
	t.Helper()
	paid := make([]bool, e.spec.NumEnvs)
	playScript(t, e, steps, func(c int, sparse []float32) {
		if sparse[0] > 0 && !paid[c] {
			paid[c] = true
			count++
		}
	})
	return count
}

// For every task, the sparse reward is equal for all agents and sums to the bonus or 0. The partial rewards of
// milestones have the same sum.
func TestSuccessesPayTheBonusOnceInWhateverParts(t *testing.T) {
	const numEnvs, parts = 8, 4
	for _, ref := range referenceSuccess {
		whole, cut := buildNumEnvs(t, ref.task, numEnvs), buildNumEnvs(t, ref.task, numEnvs)
		bonus := whole.settings.SuccessReward
		cut.settings.Milestones = parts
		sum, sumOfParts := make([]float32, numEnvs), make([]float32, numEnvs)
		add := func(sum []float32, part float32) func(int, []float32) {
			return func(c int, sparse []float32) {
				for _, r := range sparse {
					if n := r / part; r != sparse[0] || n != float32(int(n)) || n < 0 {
						t.Fatalf("%s: agents get %v, want equal multiples of %g", whole.spec.Name, sparse, part)
					}
				}
				sum[c] += sparse[0]
			}
		}
		playScript(t, whole, ref.steps, add(sum, bonus))
		playScript(t, cut, ref.steps, add(sumOfParts, bonus/parts))
		for c := range numEnvs {
			success := sum[c] > 0
			if sum[c] != 0 && sum[c] != bonus || success != (sumOfParts[c] == bonus) || sumOfParts[c] > bonus {
				t.Errorf("%s, environment %d: reward %g, in parts %g; want %g or 0",
					whole.spec.Name, c, sum[c], sumOfParts[c], bonus)
			}
		}
	}
}

// Milestones depend on progress, so it must be 0 at the start.
func TestProgressStartsAtNothing(t *testing.T) {
	for _, name := range envs.Names() {
		e := buildNumEnvs(t, must.Value(envs.Default(name)), 100)
		if e.progresser == nil {
			continue
		}
		for c := range e.spec.NumEnvs {
			if p := e.progresser.Progress(e.world, c); abs(p) > 1e-6 { // rounding of 1 − x/x
				t.Errorf("%s: progress of environment %d is %g after its reset", name, c, p)
			}
		}
	}
}

// buildNumEnvs makes a task with the sparse reward and resets it.
func buildNumEnvs(t *testing.T, cfg envs.Config, numEnvs int) *env {
	t.Helper()
	shared := cfg.Shared()
	shared.NumEnvs, shared.Reward = numEnvs, envs.Sparse
	e := must.Value(cfg.WithShared(shared).Build(11, 1)).(*env)
	e.Reset(nil, envs.NewStep(e.Spec()))
	return e
}

// playScript runs the scripted policy. It calls show with the sparse reward of every step of each environment's first
// episode.
func playScript(t *testing.T, e *env, steps int, show func(c int, sparse []float32)) {
	t.Helper()
	n := e.spec.Agents
	playFirst(t, e, steps, func(*envs.Actions) {}, func(c int, out *envs.Step) { show(c, out.Sparse[c*n:(c+1)*n]) })
}

// playFirst runs the scripted policy, whose actions change may replace. It calls show after every step of each
// environment's first episode.
func playFirst(t *testing.T, e *env, steps int, change func(*envs.Actions), show func(c int, out *envs.Step)) {
	t.Helper()
	out, act, over := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), make([]bool, e.spec.NumEnvs)
	for range min(steps, e.spec.Horizon) {
		if !e.Script(act) {
			t.Fatalf("%s has no scripted policy", e.spec.Name)
		}
		change(act)
		e.Step(act, out)
		for c := range over {
			if !over[c] {
				show(c, out)
			}
			over[c] = over[c] || out.Terminated[c]|out.Truncated[c] != 0
		}
	}
}
