// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/policy"
	"cermic/envs"
	"cermic/envs/vmas"
)

// smallGRU is a recurrent policy whose chunks of 3 steps neither divide a rollout batch of libtest.MAPPO nor end with its episodes.
func smallGRU() policy.GRU { return policy.GRU{Width: 16, Hidden: []int{16}, Steps: 3} }

// identities are the variants of the identity task: discrete, masked, continuous.
func identities() map[string]libtest.Identity {
	masked, continuous := libtest.DefaultIdentity(), libtest.DefaultIdentity()
	masked.Masked, continuous.Continuous = true, true
	return map[string]libtest.Identity{"discrete": libtest.DefaultIdentity(), "masked": masked, "continuous": continuous}
}

func toy(task envs.Config, l learn.Config, frames int) experiment.Config {
	return libtest.Toy(task, l, explore.None{}, frames)
}

// TestMAPPOLearnsTheIdentityTask: 4 steps of reward at most 1. Guessing scores 1 (discrete), 1.33 (masked) and about 1.4
// (continuous, action 0); the continuous optimum is 4.
func TestMAPPOLearnsTheIdentityTask(t *testing.T) {
	for name, task := range identities() {
		t.Run(name, func(t *testing.T) {
			libtest.CheckLearns(t, toy(task, libtest.MAPPO(), 128*16), 3.6)
		})
	}
}

func TestIndependentPPOLearnsTheIdentityTask(t *testing.T) {
	l := libtest.MAPPO()
	l.Critic = learn.OwnCritic
	libtest.CheckLearns(t, toy(libtest.DefaultIdentity(), l, 128*16), 3.6)
}

func TestMAPPOActsOnItsOwnObservationOnly(t *testing.T) {
	for name, task := range identities() {
		for _, p := range []policy.Config{policy.DefaultMLP(), policy.DefaultGRU()} {
			t.Run(name+" "+p.Kind(), func(t *testing.T) { libtest.CheckDecentralised(t, task, libtest.MAPPO(), p) })
		}
	}
	balance := vmas.DefaultBalance()
	balance.NumEnvs = 3
	l := libtest.MAPPO()
	l.Frames = 129
	libtest.CheckDecentralised(t, balance, l, policy.DefaultMLP())
}

// TestOnlyARecurrentPolicyRemembers: an agent must name the symbol of the step before and scores at most 3 in an
// episode of 4 steps. Guessing one of two symbols scores 1.5, and a policy without memory can do no better. The scores
// of 64 episodes of 3 agents then have a standard deviation of 0.06.
func TestOnlyARecurrentPolicyRemembers(t *testing.T) {
	task := libtest.DefaultIdentity()
	task.Late, task.Symbols = true, 2
	e := toy(task, libtest.MAPPO(), 128*12)
	e.Policy = smallGRU()
	libtest.CheckLearns(t, e, 2.8)
	e.Policy = policy.MLP{Hidden: []int{16}}
	evals := libtest.Train(t, e).Evals
	if mean := stat.Mean(evals[len(evals)-1].Scores, nil); mean > 1.8 {
		t.Errorf("a policy without memory scores %.2f: the task does not need one", mean)
	}
}

// TestFirstRatioIsOne: with one minibatch in one epoch, the only ratio is of the policy to itself. So the log-densities
// of the host's sampler and of the graph must agree. For a recurrent policy, unrolled chunks must repeat the policy's
// outputs at collection, with stored states and resets at the borders of episodes. The second iteration starts from
// changed weights.
func TestFirstRatioIsOne(t *testing.T) {
	for name, task := range identities() {
		told := smallCPM()
		told.Core = smallGRU()
		for _, p := range []policy.Config{policy.MLP{Hidden: []int{16}}, smallGRU(), smallCPM(), told} {
			l := libtest.MAPPO()
			l.Epochs, l.Minibatch = 1, l.Frames+2*8 // as many whole chunks as there are: ⌈16/3⌉·3 steps of 8 environments
			e := toy(task, l, 2*l.Frames)
			e.Policy = p
			r := libtest.Train(t, e)
			for scalar, want := range map[string]float64{"ratio": 1, "kl": 0, "clip_fraction": 0} {
				for k, point := range r.Scalars[scalar] {
					if math.Abs(point.Value-want) > 1e-5 {
						t.Errorf("%s, %s: %s is %g in iteration %d before any step, want %g", name, p.Kind(), scalar, point.Value, k, want)
					}
				}
			}
		}
	}
}
