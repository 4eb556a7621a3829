// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/learn"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/vmas"
)

// opposed is e on the task with two groups, in episodes of 20 steps.
func opposed(e Config) Config {
	task := vmas.DefaultSimpleAdversary()
	task.MaxSteps = 20
	if e.Learner.Kind() == (learn.Q{}).Kind() {
		task.Discrete = vmas.Product9
	}
	e.Task = task.WithShared(envs.Common{NumEnvs: 5, Reward: envs.Dense})
	return e
}

// acrossPeers is e with opponents that are peers.
func acrossPeers(e Config) Config {
	task := e.Task.(vmas.SimpleAdversary)
	task.Opponents = vmas.AsPeers
	e.Task = task
	return e
}

// variablesOf are the values of a group's variables by their path.
func variablesOf(t *testing.T, tr *trainer, group string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range tr.variables() {
		if name, ok := strings.CutPrefix(p.name, weightsPrefix+group+"/"); ok {
			out[name] = string(must.Get(p.save())(t).Data)
		}
	}
	return out
}

// TestGroupsAreTrainedApart: each group has variables of its own, with other initial values and its own observation's
// size. The other group's learning does not change them.
func TestGroupsAreTrainedApart(t *testing.T) {
	for name, e := range map[string]Config{"mappo": opposed(small("mappo")), "cermic": opposed(remembering()), "qmix": opposed(tinyQ(3))} {
		t.Run(name, func(t *testing.T) {
			tr := trainerOf(t, e)
			if len(tr.groups) != 2 {
				t.Fatalf("%d groups, want the adversary's and the good agents'", len(tr.groups))
			}
			before := []map[string]string{variablesOf(t, tr, "adversary"), variablesOf(t, tr, "agent")}
			shared, equal := 0, 0
			for path, a := range before[0] {
				if b, ok := before[1][path]; ok && len(a) == len(b) && strings.Contains(path, "weights") && !strings.Contains(path, "adam") {
					shared++
					if a == b {
						equal++
					}
				}
			}
			if len(before[0]) == 0 || shared == 0 || equal > 0 {
				t.Errorf("%d variables; of %d weights of one size, %d are the same in both groups", len(before[0]), shared, equal)
			}
			must.Get(tr.collect(t.Context()))(t)
			for k, g := range tr.groups {
				must.Get(tr.learnGroup(t.Context(), g, nil))(t)
				after := []map[string]string{variablesOf(t, tr, "adversary"), variablesOf(t, tr, "agent")}
				if maps.Equal(before[k], after[k]) {
					t.Errorf("group %s learned nothing", g.view.Name)
				}
				if other := 1 - k; !maps.Equal(before[other], after[other]) {
					t.Errorf("the learning of group %s changed the other's variables", g.view.Name)
				}
				before = after
			}
		})
	}
}

// TestAGroupSeesItsOwnObservation: an adversary's networks read its 8 numbers, a good agent's networks read its 10.
// Critics read the observations of the group.
func TestAGroupSeesItsOwnObservation(t *testing.T) {
	all := stateOf(t, trainerOf(t, opposed(small("mappo")))).Tensors
	for name, want := range map[string]int{
		"adversary/actor/layer_0/weights": 8, "agent/actor/layer_0/weights": 10, "adversary/critic/layer_0/weights": 8, "agent/critic/layer_0/weights": 20,
	} {
		if x := all[weightsPrefix+name]; !slices.Contains(x.Shape, want) {
			t.Errorf("%s has the shape %v, want one that reads %d numbers", name, x.Shape, want)
		}
	}
}

// TestResultsOfGroupsStandBesideTheWhole: every evaluation has the returns of each group, whose mean is the benchmark's
// metric. Scalars are under the group's name.
func TestResultsOfGroupsStandBesideTheWhole(t *testing.T) {
	e := opposed(remembering())
	st := open(t)
	r := must.Get(Run(t.Context(), e, st))(t)
	for _, eval := range r.Evals {
		a, b := eval.Groups["adversary"], eval.Groups["agent"]
		if len(a) != len(eval.Scores) || len(b) != len(a) || len(eval.Groups) != 2 {
			t.Fatalf("%d and %d returns of %d groups for %d episodes", len(a), len(b), len(eval.Groups), len(eval.Scores))
		}
		for i, score := range eval.Scores {
			if a[i] >= 0 || math.Abs((a[i]+b[i])/2-score) > 1e-4 {
				t.Errorf("episode %d: the groups return %g and %g, the metric is %g", i, a[i], b[i], score)
			}
		}
	}
	for _, name := range []string{
		"adversary/actor_loss", "agent/actor_loss", "adversary/cermic/loss", "agent/cermic/loss", "collection/adversary/reward/reward_mean",
		"collection/agent/reward/reward_mean", "collection/agent/reward/episode_reward_mean", "extrinsic", "train_score",
	} {
		if len(r.Scalars[name]) == 0 {
			t.Errorf("no scalar is called %s; there are %v", name, slices.Sorted(maps.Keys(r.Scalars)))
		}
	}
	if _, ok := r.Scalars["actor_loss"]; ok {
		t.Error("a scalar of both groups is called actor_loss")
	}
	score, a, b := r.Scalars["train_score"][0], r.Scalars["collection/adversary/reward/episode_reward_mean"][0], r.Scalars["collection/agent/reward/episode_reward_mean"][0]
	if math.Abs((a.Value+b.Value)/2-score.Value) > 1e-3 {
		t.Errorf("training returns %g and %g, the metric is %g", a.Value, b.Value, score.Value)
	}
	parts, _, err := Parts(e)
	if err != nil || !slices.ContainsFunc(parts, func(p Part) bool { return p.Name == "adversary/actor" }) ||
		!slices.ContainsFunc(parts, func(p Part) bool { return p.Name == "agent/cermic/memory" }) {
		t.Errorf("parts are %v, %v", parts, err)
	}
}

// TestInsideShowsBothGroups: every agent step has the internals of its own group's explorer. A graph has a node for
// each agent of the task.
func TestInsideShowsBothGroups(t *testing.T) {
	for name, e := range map[string]Config{"objects": opposed(remembering()), "peers": acrossPeers(opposed(remembering()))} {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			must.Get(Run(t.Context(), e, st))(t)
			in := must.Get(Trace(t.Context(), e, st))(t)
			if in.Agents != 3 || len(in.Bonus) != 3*in.Steps || len(in.Embed) != 3*in.Steps || len(in.Graphs) != 3*in.Steps || len(in.Scenes) != in.Steps+1 {
				t.Fatalf("%d agents, %d steps: %d bonuses, %d codes, %d graphs", in.Agents, in.Steps, len(in.Bonus), len(in.Embed), len(in.Graphs))
			}
			across := false
			for row, g := range in.Graphs {
				own := row % 3
				if len(g.Present) != 3 || !g.Present[own] || g.Probability[own] != 0 || in.Embed[row] == nil {
					t.Fatalf("agent step %d has the graph %+v", row, g)
				}
				for j := range 3 {
					if (own == 0) != (j == 0) {
						across = across || g.Probability[j] > 0
					}
				}
			}
			if across != (name == "peers") {
				t.Errorf("opponents are detected: %v", across)
			}
		})
	}
}
