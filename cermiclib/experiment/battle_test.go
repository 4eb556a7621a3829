// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/smac"
)

// battle is e with a task whose agents die and whose masks forbid actions; it refuses forbidden actions.
func battle(e Config) Config {
	e.Task = smac.DefaultZerg().WithShared(envs.Common{NumEnvs: 5, Reward: envs.Sparse})
	return e
}

// little are settings that make any module and policy small; settings that an experiment lacks are left out.
var little = []string{
	"policy.hidden=16", "policy.spectra_width=8", "policy.cpm_hidden=8", "policy.cpm_pred_minibatch=70",
	"explore.db_hidden=8", "explore.db_minibatch=70", "explore.db_epochs=1",
	"explore.mace_minibatch=70", "explore.rnd_epochs=1", "explore.rnd_hidden=8",
	"explore.cermic_minibatch=70", "explore.cermic_steps=1", "explore.d_s=8", "explore.d_x=8", "explore.phi_hidden=8", "explore.c_bar=8", "explore.n_neg=2",
	"explore.memory.d_obs_enc=8", "explore.memory.hidden=8", "explore.memory.d_f=8", "explore.db_feat=8", "explore.db_latent=8",
	"explore.hdd_hidden=8", "explore.hdd_steps=6", "explore.rnd_out=8",
	"explore.ices_hidden=8", "explore.ices_policy_hidden=8", "explore.ices_batch=16", "explore.ices_steps=2",
}

// fighter puts a method together for battles.
func fighter(t *testing.T, l learn.Config, p policy.Config, m explore.Config) Config {
	t.Helper()
	e := battle(tiny(1))
	e.Learner, e.Policy, e.Explore = l, p, m
	for _, assignment := range little {
		key, value, _ := strings.Cut(assignment, "=")
		if slices.ContainsFunc(conf.Keys(e), func(k conf.KeyDoc) bool { return k.Key == key }) {
			must.Do(t, conf.Set(&e, key, value))
		}
	}
	return e
}

// fighters are the paper's ten methods.
func fighters(t *testing.T) map[string]Config {
	ppo, q, mlp := tiny(1).Learner.(learn.MAPPO), tinyQ(1).Learner.(learn.Q), policy.DefaultMLP()
	own, spectra := ppo, q
	own.Critic, spectra.Mixer = learn.OwnCritic, learn.DefaultSPECTra()
	curious := cermic.Default()
	curious.Memory = memory.DefaultMLP() // the least to compile
	uniform := explore.DefaultEpsilon()
	uniform.Frames = 400 // half of all actions or more are uniform
	return map[string]Config{
		"mappo": fighter(t, ppo, mlp, explore.None{}), "mappo-eps": fighter(t, ppo, mlp, uniform),
		"mappo-db": fighter(t, ppo, mlp, explore.DefaultDB()), "mace": fighter(t, own, mlp, explore.DefaultMACE()),
		"cpm": fighter(t, ppo, policy.DefaultCPM(), explore.None{}), "mappo-cermic": fighter(t, ppo, mlp, curious),
		"qmix": fighter(t, q, mlp, explore.None{}), "qmix-cermic": fighter(t, q, mlp, curious),
		"qmix-spectra": fighter(t, spectra, policy.DefaultSPECTra(), explore.None{}),
		"qplex-ices":   fighter(t, q.WithQPLEX(), mlp, explore.DefaultICES()),
	}
}

// slow are the methods whose modules take seconds to compile or train on this backend.
var slow = map[string]bool{"cpm": true, "mace": true, "mappo-db": true, "mappo-cermic": true, "qmix-cermic": true}

// weights are all trainable numbers of a trainer by the path of their variable.
func (t *trainer) weights(scope string) map[string]string {
	out := map[string]string{}
	for _, v := range nn.Variables(t.groups[0].build.Store, scope) {
		if v.Trainable {
			out[v.Path()] = fmt.Sprint(v.MustValue().Value())
		}
	}
	return out
}

// moved lists the networks, two scopes deep, with a number that differs between x and y.
func moved(x, y map[string]string) []string {
	seen := map[string]bool{}
	for path := range x {
		if x[path] != y[path] {
			parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
			seen[strings.Join(parts[:min(2, len(parts)-1)], "/")] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// trained returns the weights before and after one iteration on experience that change has altered.
func trained(t *testing.T, e Config, change func(*trainer)) (before, after map[string]string, r *trainer) {
	t.Helper()
	backend := must.Get(nn.OpenConfig(nn.Sequential))(t)
	r = must.Get(newTrainer(e, backend, ""))(t)
	t.Cleanup(r.close)
	must.Get(r.collect(t.Context()))(t)
	change(r)
	before = r.weights("")
	for _, stage := range []func() error{
		func() error { _, err := r.groups[0].module.Reward(t.Context(), r.groups[0].x); return err },
		func() error { _, err := r.groups[0].learner.Update(t.Context(), r.groups[0].x); return err },
		func() error { _, err := r.groups[0].module.Update(t.Context(), r.groups[0].x); return err },
	} {
		must.Do(t, stage())
	}
	return before, r.weights(""), r
}

// TestTheDeadTrainNothing: with all agents of all frames dead, one iteration of any method changes no agent's network
// and gives no agent a bonus. Networks that read only the team's state, mixers and the world model of ICES, may learn
// from it, and do.
func TestTheDeadTrainNothing(t *testing.T) {
	team := map[string][]string{
		"qmix": {"q/mixer"}, "qmix-cermic": {"q/mixer"}, "qmix-spectra": {"q/mixer"}, "qplex-ices": {"ices/code", "ices/prediction", "q/mixer"},
	}
	for name, e := range fighters(t) {
		if testing.Short() && slow[name] {
			continue
		}
		before, after, r := trained(t, e, func(r *trainer) { clear(r.groups[0].x.Alive) })
		if got := moved(before, after); !slices.Equal(got, team[name]) {
			t.Errorf("%s: the dead train %v, want only %v", name, got, team[name])
		}
		if slices.ContainsFunc(r.groups[0].x.Intrinsic, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s: the dead are paid", name)
		}
	}
}

// TestTheLivingTrainEverything makes sure that the test above would notice a change. It also checks that the state of a
// battle reaches the central networks: twice the state trains critics and mixers differently. MACE's critics read the
// observations of their agents, and SPECTra mixes by the agents' own observations.
func TestTheLivingTrainEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("trains ten methods twice")
	}
	for name, e := range fighters(t) {
		before, after, _ := trained(t, e, func(*trainer) {})
		all := moved(before, nil)
		still := func(network string) bool {
			return strings.Contains(network, "target") || strings.Contains(network, "momentum")
		}
		if got := moved(before, after); !slices.Equal(got, slices.DeleteFunc(all, still)) {
			t.Errorf("%s: the living train %v, want all but targets of %v", name, got, moved(before, nil))
		}
		if slow[name] {
			continue // the same learners as others
		}
		_, other, _ := trained(t, e, func(r *trainer) {
			for i := range r.groups[0].x.State {
				r.groups[0].x.State[i] *= 2
			}
		})
		got, own := moved(after, other), name == "mace" || name == "qmix-spectra"
		central := slices.ContainsFunc(got, func(network string) bool {
			return strings.HasPrefix(network, "critic/") || network == "q/mixer"
		})
		if central == own {
			t.Errorf("%s: another state trains %v otherwise", name, got)
		}
	}
}
