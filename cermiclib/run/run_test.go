// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/envs"
	_ "cermic/envs/vmas"
)

// tiny is an experiment of 4 iterations that trains in about a second on any backend.
func tiny(t *testing.T, seed uint64) Experiment {
	t.Helper()
	task, err := envs.Default("vmas/balance")
	if err != nil {
		t.Fatal(err)
	}
	learner := learn.DefaultMAPPO()
	learner.Frames, learner.Epochs, learner.Minibatch, learner.CriticHidden = 200, 2, 70, []int{16}
	return Experiment{
		Task: task.WithShared(envs.Common{Copies: 5, Reward: envs.Dense}), Learner: learner, Policy: policy.MLP{Hidden: []int{16}},
		Explore: explore.None{}, Budget: Budget{Name: "custom", Frames: 800, EvalEvery: 400, EvalEpisodes: 7}, Seed: seed,
	}
}

func open(t *testing.T) *results.Store {
	t.Helper()
	st, err := results.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// record returns the files whose bytes are a run's result.
func record(t *testing.T, st *results.Store, id string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"experiment.json", "evals.jsonl", "scalars.jsonl"} {
		data, err := os.ReadFile(filepath.Join(st.Dir(), id, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

func sameRecord(t *testing.T, a, b map[string]string) {
	t.Helper()
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs:\n%s\n%s", name, a[name], b[name])
		}
	}
}

func TestSameSeedGivesSameBytes(t *testing.T) {
	one, two := open(t), open(t)
	first, err := Run(t.Context(), tiny(t, 3), one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), tiny(t, 3), two); err != nil {
		t.Fatal(err)
	}
	sameRecord(t, record(t, one, first.ID), record(t, two, first.ID))
	if !first.Complete || len(first.Evals) != 3 || len(first.Evals[0].Scores) != 7 {
		t.Errorf("complete %v with %d evaluations, want 3 of 7 episodes", first.Complete, len(first.Evals))
	}
}

func TestInterruptedRunEndsAsAnUninterruptedOne(t *testing.T) {
	whole, parts := open(t), open(t)
	want, err := Run(t.Context(), tiny(t, 4), whole)
	if err != nil {
		t.Fatal(err)
	}
	for stops := 0; ; stops++ {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		got, err := Run(ctx, tiny(t, 4), parts, func(e results.Event) {
			if e.Scalars != nil {
				seen++
			}
			if seen == 1 && e.Eval == nil && e.Scalars != nil {
				cancel() // after every single iteration
			}
		})
		cancel()
		if err == nil {
			if stops < 2 || !got.Complete {
				t.Errorf("finished after %d stops, complete %v", stops, got.Complete)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if got.Complete {
			t.Error("an interrupted run is marked complete")
		}
	}
	sameRecord(t, record(t, whole, want.ID), record(t, parts, want.ID))
}

func TestStoredRunIsNotTrainedAgain(t *testing.T) {
	st := open(t)
	if _, err := Run(t.Context(), tiny(t, 5), st); err != nil {
		t.Fatal(err)
	}
	fromStore := false
	if _, err := Run(t.Context(), tiny(t, 5), st, func(e results.Event) { fromStore = fromStore || e.FromStore }); err != nil {
		t.Fatal(err)
	}
	if !fromStore {
		t.Error("the second run was trained")
	}
}
