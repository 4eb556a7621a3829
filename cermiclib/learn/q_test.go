// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/policy"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/vmas"
)

// smallQ is a QMIX that learns a toy task in seconds on the pure Go backend.
func smallQ() learn.Q {
	l := learn.DefaultQ()
	l.Frames, l.Steps, l.Batch, l.Replay, l.EpsFrames = 128, 40, 32, 4096, 1024
	l.LR, l.Polyak = 0.01, 0.1
	l.Mixer = learn.QMIX{Embed: 8}
	return l
}

// TestQMIXLearnsTheIdentityTask: 4 steps of reward at most 1; guessing scores 1 (discrete) or 1.33 (masked).
func TestQMIXLearnsTheIdentityTask(t *testing.T) {
	for _, masked := range []bool{false, true} {
		task := libtest.DefaultIdentity()
		task.Masked = masked
		libtest.CheckLearns(t, toy(task, smallQ(), 128*12), 3.9)
	}
}

// TestQMIXSolvesTheTwoStepGame: with every action uniform, as in Rashid et al. 2018, the utilities must give the game
// with 8 a higher value than the game with 7. A sum of utilities cannot.
func TestQMIXSolvesTheTwoStepGame(t *testing.T) {
	l := smallQ()
	l.EpsInit, l.EpsEnd = 1, 1
	libtest.CheckLearns(t, toy(libtest.TwoStep(), l, 128*16), 8)
}

// TestQMIXAvoidsThePenaltiesOfTheClimbingGame: a monotonic mixer cannot represent a payoff of 11 amid penalties of 30.
// It must find a pair that costs nothing; uniform choices cost 3.4.
func TestQMIXAvoidsThePenaltiesOfTheClimbingGame(t *testing.T) {
	l := smallQ()
	l.EpsInit, l.EpsEnd = 1, 1
	libtest.CheckLearns(t, toy(libtest.Climbing(), l, 128*10), 0)
}

// TestRecurrentQMIXRemembersTheSymbolBefore: a late identity task rewards naming the symbol of the step before, which
// takes a memory. Guessing scores 0.75 of 3.
func TestRecurrentQMIXRemembersTheSymbolBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	task, l := libtest.DefaultIdentity(), smallQ()
	task.Late = true
	e := toy(task, l, 128*20)
	e.Policy = policy.GRU{Width: 16, Hidden: []int{16}, Steps: 4}
	libtest.CheckLearns(t, e, 2.7)
}

func TestQMIXActsOnItsOwnObservationOnly(t *testing.T) {
	libtest.CheckDecentralised(t, libtest.DefaultIdentity(), smallQ(), policy.DefaultMLP())
	balance := vmas.DefaultBalance()
	balance.NumEnvs, balance.Discrete = 3, vmas.Product9
	l := smallQ()
	l.Frames = 129
	libtest.CheckDecentralised(t, balance, l, policy.DefaultMLP())
	p := policy.DefaultSPECTra()
	p.Steps = 2
	libtest.CheckDecentralised(t, balance, l, p)
}

func TestQRefusesWhatItCannotTrainWithASentence(t *testing.T) {
	mlp, gru := policy.DefaultMLP(), policy.GRU{Width: 4, Steps: 4}
	for want, c := range map[string]struct {
		policy     policy.Config
		continuous bool
		change     func(l *learn.Q)
	}{
		"mixer is missing":                        {mlp, false, func(l *learn.Q) { l.Mixer = nil }},
		"12.49 GB, more than the 1.00 GB allowed": {mlp, false, func(l *learn.Q) { l.Replay, l.ReplayGB = 100_000_000, 1 }},
		"task.discrete=product9":                  {mlp, true, func(*learn.Q) {}},
		"policy.bptt":                             {gru, false, func(l *learn.Q) { l.Frames = 16 }},
		"replay_buffer_size":                      {gru, false, func(l *learn.Q) { l.Replay = 40 }},
	} {
		l, task := smallQ(), libtest.DefaultIdentity()
		c.change(&l)
		task.Continuous = c.continuous
		err := conf.Validate(l)
		if err == nil {
			_, err = l.Build(graphtest.Build(must.Value(task.Build(1, 1)).Spec(), 1), c.policy)
		}
		must.Refuse(t, err, want)
	}
}
