// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// moved reports which variables of a learner an update on x changes, by scope.
func moved(t *testing.T, cfg Config, x *rl.Rollout, masked bool) map[string]bool {
	t.Helper()
	b := graphtest.Build(tdSpec(masked), 5)
	l := must.Value(cfg.Build(b, plain))
	before := map[string][]float64{}
	for _, v := range nn.Variables(b.Store, "/") {
		if v.Trainable {
			before[v.Path()] = values(b.Store, v.Path())
		}
	}
	must.Value(l.Update(t.Context(), x))
	out := map[string]bool{}
	for path, old := range before {
		for _, scope := range []string{"/q/utility", "/q/mixer", "/actor", "/critic"} {
			if strings.HasPrefix(path, scope) && !slices.Equal(old, values(b.Store, path)) {
				out[scope] = true
			}
		}
	}
	return out
}

// TestTheDeadTrainNoPolicy: if all agents of all frames are dead, no observation or reward changes the actor, critic or
// utilities. With one living agent, they change.
func TestTheDeadTrainNoPolicy(t *testing.T) {
	ppo := DefaultMAPPO()
	ppo.Frames, ppo.Epochs, ppo.Minibatch, ppo.LR, ppo.CriticHidden, ppo.EntropyCoef = 20, 2, 7, 0.01, []int{4}, 0.01
	own := ppo
	own.Critic = OwnCritic
	qmix := sixSteps(QMIX{Embed: 3})
	for _, c := range []struct {
		name     string
		cfg      Config
		networks []string // trained by living agents only
	}{
		{"mappo", ppo, []string{"/actor", "/critic"}},
		{"mappo with a critic of own observations", own, []string{"/actor", "/critic"}},
		{"qmix", qmix, []string{"/q/utility"}},
	} {
		x := randomRollout(tdSpec(true), 10)
		clear(x.Act.Discrete) // choice 0 is always allowed there
		clear(x.Alive)
		dead := moved(t, c.cfg, x, true)
		for frame := range x.T * x.E {
			x.Alive[frame*x.N+1] = 1
		}
		living := moved(t, c.cfg, x, true)
		for _, network := range c.networks {
			if dead[network] {
				t.Errorf("%s: dead agents train %s", c.name, network)
			}
			if !living[network] {
				t.Errorf("%s: living agents do not train %s: the test would notice nothing", c.name, network)
			}
		}
	}
}

// An agent observes 1 and gets no reward. Then it is dead and observes 0 while the team gets 1 in each of 5 steps. The
// target of its living step is the return of these steps, independent of the critic, which is not trained on dead
// agents.
func TestWhatTheTeamEarnsAfterADeathCountsAsItWasEarned(t *testing.T) {
	spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: 1, Obs: []int{1}, State: 1, Act: envs.ActSpec{Choices: 2}}
	c := DefaultMAPPO()
	c.Frames, c.Epochs, c.Minibatch, c.CriticHidden, c.Critic, c.LR, c.Discount, c.Lambda = 6, 50, 6, []int{8}, OwnCritic, 0.02, 0.5, 0
	built := must.Value(c.Build(graphtest.Build(spec, 5), plain))
	x := rl.NewRollout(spec, 6, 0)
	x.Obs[0], x.Alive[0], x.Terminated[5] = 1, 1, 1
	copy(x.Extrinsic, []float32{0, 1, 1, 1, 1, 1})
	for k := range 40 {
		x.Iteration = k
		must.Value(built.Update(t.Context(), x))
	}
	// 1/2 + 1/4 + 1/8 + 1/16 + 1/32 after 2,000 steps of Adam.
	if want := 31.0 / 32; math.Abs(float64(x.Value[0])-want) > 0.02 {
		t.Errorf("V of the living step is %g, want %g", x.Value[0], want)
	}
}
