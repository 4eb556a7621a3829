// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/vmas"
)

func TestMain(m *testing.M) { libtest.Main(m) }

// tiny are settings that let any method train two iterations in a moment. Settings that an experiment does not have
// are left out. A new method needs an entry here only if its defaults are large.
var tiny = []string{
	"task.copies=3", "budget.frames=24", "budget.eval_every=24", "budget.eval_episodes=1",
	"learner.frames_per_batch=12", "learner.minibatch_iterations=1", "learner.minibatch_size=12", "learner.critic_hidden=8",
	"learner.offpolicy_frames_per_batch=12", "learner.optimizer_steps_per_collection=2", "learner.train_batch_size=6",
	"learner.replay_buffer_size=24", "policy.hidden=8", "policy.gru_width=6", "policy.bptt=2", "policy.core.hidden=8",
	"policy.core.gru_width=6", "policy.core.bptt=2", "policy.cpm_hidden=8", "policy.cpm_pred_minibatch=12", "policy.spectra_width=8",
	"explore.db_hidden=8", "explore.db_minibatch=16", "explore.db_epochs=1", "explore.mace_minibatch=12", "explore.rnd_epochs=1",
	"explore.rnd_hidden=8", "explore.hdd_steps=2", "explore.cermic_minibatch=16", "explore.cermic_steps=1", "explore.d_s=8", "explore.d_x=8", "explore.phi_hidden=8", "explore.c_bar=8",
	"explore.n_neg=2", "explore.memory=mlp", "explore.memory.hidden=8", "explore.memory.d_f=8", "explore.ices_hidden=8", "explore.ices_policy_hidden=8",
	"explore.ices_batch=6", "explore.ices_steps=2", "explore.db_feat=8", "explore.db_latent=8", "explore.hdd_hidden=8", "explore.rnd_out=8",
	"explore.memory.d_obs_enc=8", "explore.int_form.waves=15", "explore.int_form.reservoir=64", "explore.int_form.sample=32",
	"learner.mixer.mixing_embed_dim=8", "learner.mixer.hypernet_hidden=8", "policy.cpm_latent=8",
}

// small applies tiny to e.
func small(t *testing.T, e *experiment.Config) { t.Helper(); change(t, e, tiny) }

// change makes the changes to settings that e has and skips the others.
func change(t *testing.T, e *experiment.Config, changes []string) {
	t.Helper()
	for _, assignment := range changes {
		key, value, _ := strings.Cut(assignment, "=")
		if _, ok := conf.Get(*e, key); !ok {
			continue
		}
		if err := conf.Set(e, key, value); err != nil {
			t.Fatalf("%s: %v", assignment, err)
		}
	}
}

// cores are the two kinds of policies that any method must work with.
var cores = []string{"mlp", "gru"}

// withCore makes e's policy feed-forward or recurrent. SPECTra's is always recurrent.
func withCore(t *testing.T, e *experiment.Config, core string) {
	t.Helper()
	switch e.Policy.(type) {
	case policy.CPM: // around either
		must.Do(t, conf.Set(e, "policy.core", core))
	case policy.MLP:
		must.Do(t, conf.Set(e, "policy", core))
	}
}

// playgrounds are a continuous task, a discrete one with masks and deaths, and one with image observations. Value
// learners get finitely many actions on the continuous one.
var playgrounds = []string{"vmas/balance", "smac/protoss_5_vs_5", "meltingpot/prisoners_dilemma_in_the_matrix__repeated"}

// everywhere calls f for every method on every playground with every core, by name. In short tests, and on a backend
// that compiles each graph for seconds, every method comes once, with task and core in turn.
func everywhere(f func(name, method, task, core string)) {
	once := testing.Short() || os.Getenv("GOMLX_BACKEND") != nn.Sequential
	for k, method := range cermiclib.Methods() {
		for i, task := range playgrounds {
			for j, core := range cores {
				if !once || i == k%len(playgrounds) && j == k/len(playgrounds)%2 {
					f(fmt.Sprintf("%s %s %s", method.ID, task, core), method.ID, task, core)
				}
			}
		}
	}
}

// combination is a tiny experiment of the matrix.
func combination(t *testing.T, method, task, core string) experiment.Config {
	t.Helper()
	e := configure(t, Request{Task: task, Method: method, Budget: "smoke", Seed: 1})
	withCore(t, &e, core)
	small(t, &e)
	if task == playgrounds[2] { // whose episodes take thousands of steps, and whose pictures thousands of products each
		change(t, &e, []string{"task.max_steps=3", "budget.frames=12", "budget.eval_every=12", "learner.frames_per_batch=6", "learner.minibatch_size=6",
			"learner.offpolicy_frames_per_batch=6", "learner.train_batch_size=4"})
	}
	return e
}

// TestEveryMethodTrainsOnEveryPlaygroundWithEveryCore: two iterations, all scalars finite (or the run would end with an
// error), and an evaluation.
func TestEveryMethodTrainsOnEveryPlaygroundWithEveryCore(t *testing.T) {
	everywhere(func(name, method, task, core string) {
		t.Run(name, func(t *testing.T) {
			e := combination(t, method, task, core)
			checkTrained(t, libtest.Train(t, e), 2)
		})
	})
}

// checkTrained fails unless r is complete with as many iterations, all of whose scalars and scores are numbers.
func checkTrained(t *testing.T, r *results.Record, iterations int) {
	t.Helper()
	if !r.Complete || len(r.Evals) == 0 || len(r.Scalars["extrinsic"]) != iterations {
		t.Fatalf("complete %v, %d evaluations, %d iterations, want %d", r.Complete, len(r.Evals), len(r.Scalars["extrinsic"]), iterations)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scalars)) {
		for _, p := range r.Scalars[name] {
			if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
				t.Errorf("%s is %g", name, p.Value)
			}
		}
	}
}

// TestEveryMethodTrainsOnFewerFramesThanAMinibatch: every minibatch of every method is larger than its rollout batch,
// so that each is filled up. A continuous task has densities, which padding of zeros leaves undefined.
func TestEveryMethodTrainsOnFewerFramesThanAMinibatch(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every method")
	}
	for _, method := range cermiclib.Methods() {
		t.Run(method.ID, func(t *testing.T) {
			e := combination(t, method.ID, playgrounds[0], "mlp")
			for _, k := range conf.Keys(e) {
				other := strings.Contains(k.Key, "per_batch") || strings.Contains(k.Key, "iterations")
				if strings.Contains(k.Key, "batch") && !other {
					change(t, &e, []string{k.Key + "=200"})
				}
			}
			checkTrained(t, libtest.Train(t, e), 2)
		})
	}
}

// TestEveryMethodActsOnItsOwnObservationOnly: with everything but an agent's own observation and carry made NaN, it
// does the same.
func TestEveryMethodActsOnItsOwnObservationOnly(t *testing.T) {
	everywhere(func(name, method, task, core string) {
		e := combination(t, method, task, core)
		t.Run(name, func(t *testing.T) { libtest.CheckDecentralised(t, e.Task, e.Learner, e.Policy) })
	})
}

// mortalGame kills the second agent after the first stage and allows it choice 0 then or, with empty, nothing.
type mortalGame struct {
	libtest.OneChoice
	empty bool
}

func (c mortalGame) WithShared(s envs.Common) envs.Config { c.Game = c.Game.WithShared(s); return c }

func (c mortalGame) Build(seed uint64, workers int) (envs.Env, error) {
	env, err := c.OneChoice.Build(seed, workers)
	return mortalEnv{env, c.empty}, err
}

type mortalEnv struct {
	envs.Env
	empty bool
}

func (e mortalEnv) Step(act *envs.Actions, out *envs.Step) {
	e.Env.Step(act, out)
	k := e.Spec().Act.Choices
	for c := range out.Score {
		mask := out.Mask[(2*c+1)*k : (2*c+2)*k]
		clear(mask)
		if out.Alive[2*c+1] = 0; !e.empty {
			mask[0] = 1
		}
	}
}

// TestEveryMethodTakesEmptyMasksOfTheDead tests masks that allow dead agents no action. Every method then trains,
// stops and continues as with masks that allow them choice 0.
func TestEveryMethodTakesEmptyMasksOfTheDead(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every method")
	}
	shared := envs.Common{NumEnvs: 3, Reward: envs.Dense}
	game := libtest.OneChoice{Game: libtest.TwoStep().WithShared(shared), Choice: 1}
	for _, method := range cermiclib.Methods() {
		t.Run(method.ID, func(t *testing.T) {
			e := combination(t, method.ID, playgrounds[1], "mlp")
			e.Task = mortalGame{game, false}
			want := libtest.Train(t, e)
			checkTrained(t, want, 2)
			e.Task = mortalGame{game, true}
			st := libtest.Store(t)
			libtest.Stop(t, e, e.Learner.CollectFrames(), st)
			got, err := experiment.Run(t.Context(), e, st)
			if err != nil || !reflect.DeepEqual(got.Evals, want.Evals) || !reflect.DeepEqual(got.Scalars, want.Scalars) {
				t.Errorf("it ends as %+v (%v)\nwant %+v", got, err, want)
			}
		})
	}
}

// TestEveryExplorerWorksWithEveryLearner tests that bonuses and behaviours do not depend on the learner. Unsupported
// combinations are refused with a sentence.
func TestEveryExplorerWorksWithEveryLearner(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every explorer twice")
	}
	for _, method := range []string{"mappo", "qmix"} {
		for _, kind := range conf.Kinds[explore.Config]() {
			t.Run(method+" "+kind, func(t *testing.T) {
				q := Request{Task: playgrounds[0], Method: method, Budget: "smoke", Seed: 1, Set: []string{"explore=" + kind}}
				if method == "qmix" && kind == (explore.Epsilon{}).Kind() {
					_, err := New(q)
					must.Refuse(t, err, "a value learner has an ε of its own")
					return
				}
				e := configure(t, q)
				small(t, &e)
				if kind == (explore.ICES{}).Kind() { // compares finitely many actions
					must.Do(t, conf.Set(&e, "task.discrete", string(vmas.Product9)))
				}
				checkTrained(t, libtest.Train(t, e), 2)
			})
		}
	}
}

// TestEveryMethodTrainsGroupsApart: two iterations on the task with two groups, of which one has a single agent, with
// scalars and returns of both. Memories have opponents for peers where the task says so.
func TestEveryMethodTrainsGroupsApart(t *testing.T) {
	for _, m := range cermiclib.Methods() {
		for _, opponents := range []string{"objects", "peers"} {
			if opponents == "peers" && !strings.Contains(m.ID, "cermic") {
				continue // whose parts know nothing of labels
			}
			t.Run(m.ID+" "+opponents, func(t *testing.T) {
				if testing.Short() && m.ID != "mappo-cermic" {
					t.Skip("compiles for seconds")
				}
				e := combination(t, m.ID, "vmas/simple_adversary", "mlp")
				must.Do(t, conf.Set(&e, "task.opponents", opponents))
				r := libtest.Train(t, e)
				checkTrained(t, r, 2)
				for _, group := range []string{"adversary", "agent"} {
					own := 0
					for name := range r.Scalars {
						if strings.HasPrefix(name, group+"/") {
							own++
						}
					}
					if own == 0 || len(r.Evals[0].Groups[group]) != len(r.Evals[0].Scores) {
						t.Errorf("group %s has %d scalars and %d returns", group, own, len(r.Evals[0].Groups[group]))
					}
				}
			})
		}
	}
}
