// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/safetensors"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/vmas"
)

// tiny is an experiment of 4 iterations that trains in about a second on any backend. Its episodes of 50 steps do not
// end with rollout batches.
func tiny(seed uint64) Config {
	task := vmas.DefaultBalance()
	task.MaxSteps = 50
	learner := learn.DefaultMAPPO()
	learner.Frames, learner.Epochs, learner.Minibatch, learner.CriticHidden = 200, 2, 70, []int{16}
	return Config{
		Task: task.WithShared(envs.Common{NumEnvs: 5, Reward: envs.Dense}), Learner: learner, Policy: policy.MLP{Hidden: []int{16}},
		Explore: explore.None{}, Budget: Budget{Name: "custom", Frames: 800, EvalEvery: 400, EvalEpisodes: 7}, Seed: seed,
	}
}

// tinyQ is tiny with a value learner, whose replay is smaller than the run.
func tinyQ(seed uint64) Config {
	e := tiny(seed)
	task := e.Task.(vmas.Balance)
	learner := learn.DefaultQ()
	learner.Frames, learner.Steps, learner.Batch, learner.Replay, learner.EpsFrames = 200, 3, 32, 500, 400
	e.Task, e.Learner = task.WithDiscrete(vmas.Product9), learner
	return e
}

// tinyCurious is tinyQ with a bonus, which is kept with the experience.
func tinyCurious(seed uint64) Config {
	e := tinyQ(seed)
	e.Explore = curious{}
	return e
}

// tinyGRU is tiny with a recurrent policy, whose state goes on from one rollout batch to the next.
func tinyGRU(seed uint64) Config {
	e := tiny(seed)
	e.Policy = policy.GRU{Width: 8, Hidden: []int{16}, Steps: 3}
	return e
}

// tinyRecurrentQ is tinyQ with a recurrent policy. Chunks cross the border of rollout batches. The replay is smaller
// than the run and keeps the states at the start of chunks.
func tinyRecurrentQ(seed uint64) Config {
	e := tinyQ(seed)
	e.Policy = policy.SPECTra{Width: 8, Heads: 2, Steps: 3}
	return e
}

// tinyCPM is tinyGRU with a policy that predicts its peers, and a bonus with statistics of its own.
func tinyCPM(seed uint64) Config {
	e := tinyGRU(seed)
	c := policy.DefaultCPM()
	c.Core, c.Hidden, c.Latent, c.Minibatch = e.Policy, 8, 4, 70
	m := explore.DefaultMACE()
	m.HindsightHidden, m.HindsightSteps, m.NoveltyWidth, m.NoveltyOut, m.NoveltyEpochs, m.Minibatch = []int{8}, 6, 8, 4, 1, 70
	e.Policy, e.Explore = c, m
	return e
}

// tinyICES is a QPLEX whose explorer trains on the learner's replay.
func tinyICES(seed uint64) Config {
	e := tinyQ(seed)
	l := e.Learner.(learn.Q).WithQPLEX()
	c := explore.DefaultICES()
	c.Hidden, c.PolicyWidth, c.Batch, c.Steps = []int{8}, []int{8}, 16, 3
	e.Learner, e.Explore = l, c
	return e
}

// kinds are the experiments that must be repeatable and resumable.
var kinds = map[string]func(uint64) Config{
	"mappo": tiny, "mappo gru": tinyGRU, "cpm gru mace": tinyCPM, "qmix": tinyQ, "qmix spectra": tinyRecurrentQ,
	"qplex ices": tinyICES, "qmix curious": tinyCurious,
}

func open(t *testing.T) *results.Store {
	t.Helper()
	return must.Get(results.Open(t.TempDir()))(t)
}

// record is a run's result: its record but for the host, as JSON.
func record(t *testing.T, st *results.Store, id string) string {
	t.Helper()
	found := must.Get(st.Get(id))(t)
	r := *found
	r.Host = results.Host{}
	return string(must.Get(json.Marshal(r))(t))
}

func sameRecord(t *testing.T, a, b string) {
	t.Helper()
	if a != b {
		t.Errorf("a record differs:\n%s\n%s", a, b)
	}
}

// twoGroups are experiments of two groups, in three iterations.
func twoGroups() map[string]Config {
	es := map[string]Config{
		"two groups, cermic": opposed(small("mappo-cermic")), "two groups, graph": acrossPeers(opposed(remembering())),
		"two groups, recurrent qmix": opposed(tinyRecurrentQ(4)), "two groups, qmix-cermic": opposed(small("qmix-cermic")),
	}
	for name, e := range es {
		each := e.Learner.CollectFrames()
		e.Budget.Frames, e.Budget.EvalEvery, e.Budget.EvalEpisodes = 3*each, 2*each, 7
		es[name] = e
	}
	return es
}

// TestInterruptedRunEndsAsAnUninterruptedOne trains every kind of run twice with one seed, the second time in pieces.
func TestInterruptedRunEndsAsAnUninterruptedOne(t *testing.T) {
	es := twoGroups()
	for name, kind := range kinds {
		es[name] = kind(4)
	}
	for name, e := range es {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && !slices.Contains([]string{"mappo", "qmix spectra", "two groups, graph"}, name) {
				t.Skip("kills at any moment are tested")
			}
			whole, parts := open(t), open(t)
			want := must.Get(Run(t.Context(), e, whole))(t)
			trainInPieces(t, e, parts)
			sameRecord(t, record(t, whole, want.ID), record(t, parts, want.ID))
			if !want.Complete || len(want.Evals) != 3 || len(want.Evals[0].Scores) != 7 {
				t.Errorf("complete %v with %d evaluations, want 3 of 7 episodes", want.Complete, len(want.Evals))
			}
		})
	}
}

// trainInPieces stops the run after every single iteration until it is complete.
func trainInPieces(t *testing.T, e Config, st *results.Store) {
	t.Helper()
	for stops := 0; ; stops++ {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		got, err := Run(ctx, e, st, func(e results.Event) {
			if e.Scalars != nil {
				seen++
			}
			if seen == 1 && e.Eval == nil && e.Scalars != nil {
				cancel()
			}
		})
		cancel()
		if err == nil {
			if stops < 2 || !got.Complete {
				t.Errorf("finished after %d stops, complete %v", stops, got.Complete)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if got.Complete {
			t.Error("an interrupted run is marked complete")
		}
	}
}

// TestAChangedTaskIsNotResumed: a replay can be rebuilt only on the task that it was recorded on.
func TestAChangedTaskIsNotResumed(t *testing.T) {
	e, st := tinyQ(1), open(t)
	stopAt(t, e, 200, st)
	saved := must.Get(st.Checkpoint(idOf(t, e)))(t)
	backend := must.Get(nn.Open())(t)
	for name, change := range map[string]func(e *Config, actions []uint8) []uint8{
		"nothing": func(_ *Config, actions []uint8) []uint8 { return actions },
		"physics": func(e *Config, actions []uint8) []uint8 {
			task := e.Task.(vmas.Balance)
			task.PackageMass = 3
			e.Task = task
			return actions
		},
		"action": func(_ *Config, actions []uint8) []uint8 { actions[100] = (actions[100] + 1) % 9; return actions },
		"end":    func(_ *Config, actions []uint8) []uint8 { return actions[:len(actions)-1] },
	} {
		changed, c := e, saved
		c.Tensors = maps.Clone(saved.Tensors)
		played := statePrefix + "played"
		c.Tensors[played] = safetensors.New(change(&changed, slices.Clone(saved.Tensors[played].Data)))
		tr := must.Get(newTrainer(changed, backend, ""))(t)
		if err := tr.replayActions(t.Context(), c); (err == nil) != (name == "nothing") {
			t.Errorf("%s changed: %v", name, err)
		}
	}
}
