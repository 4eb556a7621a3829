// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"testing"

	"cermic/envs"
)

// Share of episodes in which simple controllers in the original simulator had met the success predicate after that many
// steps, at BenchMARL's defaults.
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

// Our scripts are other ones, so they have to succeed as often, less four standard errors of 64 episodes.
func TestScriptsSucceedAsOftenAsInTheOriginal(t *testing.T) {
	const copies = 64
	for _, ref := range referenceSuccess {
		e := buildNumEnvs(t, ref.task, copies)
		paid := make([]float32, copies)
		playScript(t, e, ref.steps, func(c int, sparse []float32) { paid[c] += sparse[0] })
		successes := 0.0
		for _, sum := range paid {
			if sum > 0 {
				successes++
			}
		}
		t.Logf("%s: %.0f of %d within %d steps, original %.0f %%", e.spec.Name, successes, copies, ref.steps, 100*ref.share)
		error4 := 4 * float64(sqrt(float32(ref.share*(1-ref.share)/copies)))
		if share := successes / copies; share < ref.share-error4 {
			t.Errorf("%s: %.2f of the episodes succeed within %d steps, want %.2f", e.spec.Name, share, ref.steps, ref.share)
		}
	}
}

// Whatever the task, the sparse reward is the same for all agents, adds up to the bonus or to nothing, and the parts of
// which milestones make it add up to the same.
func TestSuccessesPayTheBonusOnceInWhateverParts(t *testing.T) {
	const copies, parts = 8, 4
	for _, ref := range referenceSuccess {
		whole, cut := buildNumEnvs(t, ref.task, copies), buildNumEnvs(t, ref.task, copies)
		bonus := whole.settings.SuccessReward
		cut.settings.Milestones = parts
		sum, sumOfParts := make([]float32, copies), make([]float32, copies)
		add := func(sum []float32, part float32) func(int, []float32) {
			return func(c int, sparse []float32) {
				for _, r := range sparse {
					if n := r / part; r != sparse[0] || n != float32(int(n)) || n < 0 {
						t.Fatalf("%s: agents get %v, want the same multiple of %g", whole.spec.Name, sparse, part)
					}
				}
				sum[c] += sparse[0]
			}
		}
		playScript(t, whole, ref.steps, add(sum, bonus))
		playScript(t, cut, ref.steps, add(sumOfParts, bonus/parts))
		for c := range copies {
			success := sum[c] > 0
			if sum[c] != 0 && sum[c] != bonus || success != (sumOfParts[c] == bonus) || sumOfParts[c] > bonus {
				t.Errorf("%s, copy %d: pays %g, in parts %g; want %g or nothing", whole.spec.Name, c, sum[c], sumOfParts[c], bonus)
			}
		}
	}
}

// Progress is what milestones are counted in: 0 at the start, so that nothing is paid for a reset.
func TestProgressStartsAtNothing(t *testing.T) {
	for _, name := range envs.Names() {
		cfg, err := envs.Default(name)
		if err != nil {
			t.Fatal(err)
		}
		e := buildNumEnvs(t, cfg, 100)
		if e.progresser == nil {
			continue
		}
		for c := range e.spec.NumEnvs {
			if p := e.progresser.Progress(e.world, c); abs(p) > 1e-6 { // rounding of 1 − x/x
				t.Errorf("%s: progress of copy %d is %g after its reset", name, c, p)
			}
		}
	}
}

// buildNumEnvs makes a task with the sparse reward and resets it.
func buildNumEnvs(t *testing.T, cfg envs.Config, copies int) *env {
	t.Helper()
	shared := cfg.Shared()
	shared.NumEnvs, shared.Reward = copies, envs.Sparse
	built, err := cfg.WithShared(shared).Build(11, 1)
	if err != nil {
		t.Fatal(err)
	}
	e := built.(*env)
	e.Reset(nil, envs.NewStep(e.Spec()))
	return e
}

// playScript plays the scripted policy and shows the sparse reward of every step until an environment's first episode ends.
func playScript(t *testing.T, e *env, steps int, show func(c int, sparse []float32)) {
	t.Helper()
	out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
	over, n := make([]bool, e.spec.NumEnvs), e.spec.Agents
	for range min(steps, e.spec.Horizon) {
		if !e.Script(act) {
			t.Fatalf("%s has no scripted policy", e.spec.Name)
		}
		e.Step(act, out)
		for c := range over {
			if !over[c] {
				show(c, out.Sparse[c*n:(c+1)*n])
			}
			over[c] = over[c] || out.Terminated[c]|out.Truncated[c] != 0
		}
	}
}
