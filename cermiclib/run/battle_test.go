// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/envs"
	"cermic/envs/smac"
)

// battle is e with a task whose agents die and may not do everything: it refuses forbidden actions.
func battle(e Experiment) Experiment {
	e.Task = smac.DefaultZerg().WithShared(envs.Common{Copies: 5, Reward: envs.Sparse})
	return e
}

// TestLearnersPlayBattlesWithinTheirMasks: the task panics at the first forbidden action, of training as of evaluation, so that a
// run that ends in order sent none. Half of all actions or more are uniform where there is an ε.
func TestLearnersPlayBattlesWithinTheirMasks(t *testing.T) {
	q := tinyQ(1)
	uniform := explore.DefaultEpsilon()
	uniform.Frames = 400
	epsilon, curious := tiny(1), tiny(1)
	epsilon.Explore = uniform
	curious.Explore, curious.Budget.Frames, curious.Budget.EvalEvery = cermic.Default(), 200, 200 // its module is slow on this backend
	qplex := tinyQ(1)
	learner := qplex.Learner.(learn.Q)
	learner.Mixer = learn.DefaultQPLEX()
	qplex.Learner = learner
	for name, e := range map[string]Experiment{
		"mappo": tiny(1), "mappo-gru": tinyGRU(1), "mappo-eps": epsilon, "mappo-cermic": curious, "qmix": q, "qplex": qplex,
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "mappo-cermic" {
				t.Skip("takes seconds to compile and train")
			}
			r, err := Run(t.Context(), battle(e), open(t))
			if err != nil {
				t.Fatal(err)
			}
			last := r.Evals[len(r.Evals)-1]
			if len(last.Scores) != e.Budget.EvalEpisodes || slices.Max(last.Lengths) > 200 {
				t.Errorf("%d episodes of lengths %v", len(last.Scores), last.Lengths)
			}
		})
	}
}

func TestAnInterruptedBattleGoesOnExactly(t *testing.T) {
	whole, pieces := open(t), open(t)
	e := battle(tiny(1))
	r, err := Run(t.Context(), e, whole)
	if err != nil {
		t.Fatal(err)
	}
	trainInPieces(t, e, pieces)
	sameRecord(t, record(t, whole, r.ID), record(t, pieces, r.ID))
}
