// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"math"
	"testing"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/run"
	"cermic/envs"
	"cermic/envs/vmas"
)

// small is a MAPPO that learns a toy task in a second on the pure Go backend.
func small() learn.MAPPO {
	l := learn.DefaultMAPPO()
	l.Frames, l.Epochs, l.Minibatch, l.LR, l.CriticHidden = 128, 8, 50, 0.01, []int{16}
	return l
}

// identities are the variants of the identity task: discrete, masked, continuous.
func identities() map[string]libtest.Identity {
	masked, continuous := libtest.DefaultIdentity(), libtest.DefaultIdentity()
	masked.Masked, continuous.Continuous = true, true
	return map[string]libtest.Identity{"discrete": libtest.DefaultIdentity(), "masked": masked, "continuous": continuous}
}

func toy(task envs.Config, l learn.Config, frames int) run.Experiment {
	return run.Experiment{
		Task: task, Learner: l, Policy: policy.MLP{Hidden: []int{16}}, Explore: explore.None{},
		Budget: run.Budget{Name: "custom", Frames: frames, EvalEvery: frames, EvalEpisodes: 64}, Seed: 1,
	}
}

// TestMAPPOLearnsTheIdentityTask: 4 steps of reward at most 1. Guessing scores 1 (discrete), 1.33 (masked) and about 1.4
// (continuous, action 0); the continuous optimum is 4.
func TestMAPPOLearnsTheIdentityTask(t *testing.T) {
	for name, task := range identities() {
		t.Run(name, func(t *testing.T) {
			libtest.CheckLearns(t, toy(task, small(), 128*16), 3.6)
		})
	}
}

func TestMAPPOActsOnItsOwnObservationOnly(t *testing.T) {
	for name, task := range identities() {
		t.Run(name, func(t *testing.T) { libtest.CheckDecentralised(t, task, small(), policy.DefaultMLP()) })
	}
	balance := vmas.DefaultBalance()
	balance.Copies = 3
	l := small()
	l.Frames = 129
	libtest.CheckDecentralised(t, balance, l, policy.DefaultMLP())
}

// TestFirstRatioIsOne: with one minibatch in one epoch, the only ratio is that of the policy to itself, so the log-density of
// the host's sampler and that of the graph must agree.
func TestFirstRatioIsOne(t *testing.T) {
	for name, task := range identities() {
		t.Run(name, func(t *testing.T) {
			l := small()
			l.Epochs, l.Minibatch = 1, l.Frames
			r := libtest.Train(t, toy(task, l, l.Frames))
			for scalar, want := range map[string]float64{"ratio": 1, "kl": 0, "clip_fraction": 0} {
				if got := r.Scalars[scalar][0].Value; math.Abs(got-want) > 1e-5 {
					t.Errorf("%s is %g before any step, want %g", scalar, got, want)
				}
			}
		})
	}
}

func TestImpossibleSettingsGetASentence(t *testing.T) {
	task := libtest.DefaultIdentity()
	for name, change := range map[string]func(*learn.MAPPO){
		"frames not a multiple of copies": func(l *learn.MAPPO) { l.Frames = 130 },
		"no frames":                       func(l *learn.MAPPO) { l.Frames = 0 },
		"discount":                        func(l *learn.MAPPO) { l.Discount = 1.1 },
		"NaN step size":                   func(l *learn.MAPPO) { l.LR = math.NaN() },
		"share":                           func(l *learn.MAPPO) { l.ShareReward = "sum" },
		"width":                           func(l *learn.MAPPO) { l.CriticHidden = []int{0} },
	} {
		l := small()
		change(&l)
		b, _ := libtest.NewBuild(t, task, 1)
		if _, err := l.Build(b, policy.DefaultMLP()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
