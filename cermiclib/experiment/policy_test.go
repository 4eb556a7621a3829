// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// TestALoadedPolicyPlaysAsItsEvaluationDid: on the environments of an evaluation it takes the same actions, whether it
// is recurrent or one of a value learner, and the score of every episode is the recorded one.
func TestALoadedPolicyPlaysAsItsEvaluationDid(t *testing.T) {
	for name, e := range map[string]Config{"mlp": tiny(3), "gru": tinyGRU(3), "qmix": tinyQ(3), "context": withContext()} {
		e.Budget.EvalEpisodes = e.Task.Shared().NumEnvs // one round
		st := open(t)
		r, err := Run(t.Context(), e, st)
		must.Do(t, err)
		p, err := Load(st, r.ID, e.Task.Shared().NumEnvs)
		must.Do(t, err)
		want := r.Evals[len(r.Evals)-1]
		for round := range 2 { // the second time after Reset
			got := playOnce(t, p, rng.New(e.Seed, "evaluation", uint64(p.Frames), 0).Uint64())
			for c := range want.Scores {
				if got[c] != want.Scores[c] {
					t.Errorf("%s, round %d: episode %d scores %g, its evaluation %g", name, round, c, got[c], want.Scores[c])
				}
			}
			p.Reset(nil)
		}
		p.Close()
	}
}

// playOnce plays the first episode of every environment and returns the scores.
func playOnce(t *testing.T, p *Policy, seed uint64) []float64 {
	t.Helper()
	env := must.Get(p.Env(seed))(t)
	defer envs.Close(env)
	s := env.Spec()
	step, act := envs.NewStep(s), envs.NewActions(s)
	scores, over := make([]float64, s.NumEnvs), make([]bool, s.NumEnvs)
	env.Reset(nil, step)
	for k := range s.Horizon {
		must.Do(t, p.Act(step, act))
		env.Step(act, step)
		for c := range scores {
			if !over[c] && k < s.EvalHorizon {
				scores[c] += float64(step.Score[c])
			}
			over[c] = over[c] || step.Terminated[c]|step.Truncated[c] != 0
		}
	}
	return scores
}

func TestAPolicyThatCannotBeLoadedOrPlayedIsASentence(t *testing.T) {
	e, st := tiny(1), open(t)
	if _, err := e.Trained(st, 1); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "\n") {
		t.Errorf("without weights: %v", err)
	}
	_, err := Load(st, "0123abcd", 1)
	must.Refuse(t, err, "no run 0123abcd")
	r := must.Get(Run(t.Context(), e, st))(t)
	_, err = Load(st, r.ID, 0)
	must.Refuse(t, err, "want at least 1")
	p := must.Get(Load(st, r.ID, 2))(t)
	defer p.Close()
	other := *p.Spec()
	other.NumEnvs = 3
	must.Refuse(t, p.Act(envs.NewStep(&other), envs.NewActions(&other)), "make the buffers from its Spec")
}
