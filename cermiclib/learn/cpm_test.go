// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/policy"
)

// smallCPM predicts with networks that the pure Go backend trains in a moment.
func smallCPM() policy.CPM {
	c := policy.DefaultCPM()
	c.Core, c.Hidden, c.Latent, c.Minibatch, c.LR, c.Lag = policy.MLP{Hidden: []int{16}}, 16, 8, 64, 0.01, 128*4
	return c
}

// TestCPMForeseesPeersThatSeeTheSame: all agents observe one symbol of four and learn to name it. A peer's choice then
// has a marginal entropy of log 4 = 1.39, all of which is predictable. If each agent observes its own symbol, nothing
// is.
func TestCPMForeseesPeersThatSeeTheSame(t *testing.T) {
	for _, same := range []bool{true, false} {
		task := libtest.DefaultIdentity()
		task.Same = same
		e := toy(task, libtest.MAPPO(), 128*14)
		e.Policy = smallCPM()
		scalars := libtest.Train(t, e).Scalars
		last := func(name string) float64 { return scalars[name][len(scalars[name])-1].Value }
		cross, marginal := last("cpm/cross_entropy"), last("cpm/marginal_entropy")
		if marginal < 1.2 || same && cross > marginal/3 || !same && cross < 0.8*marginal {
			t.Errorf("same %v: cross-entropy %.3f of predictions, marginal entropy %.3f", same, cross, marginal)
		}
	}
}

// TestCPMFindsTheBestResponse: the peer has a single allowed action, and the game's best pairs lie elsewhere.
func TestCPMFindsTheBestResponse(t *testing.T) {
	best := []float64{11, 7, 6} // the largest payoff in each column of the climbing game
	for k, want := range best {
		task := libtest.OneChoice{Game: libtest.Climbing(), Choice: k}
		l := libtest.MAPPO()
		l.EntropyCoef = 1 // payoffs are of order 10
		e := toy(task, l, 128*14)
		e.Policy = smallCPM()
		libtest.CheckLearns(t, e, want)
	}
}

func TestCPMLearnsTheIdentityTask(t *testing.T) {
	for name, task := range identities() {
		t.Run(name, func(t *testing.T) {
			e := toy(task, libtest.MAPPO(), 128*16)
			e.Policy = smallCPM()
			libtest.CheckLearns(t, e, 3.5)
		})
	}
}

// TestCPMRemembersWithARecurrentCore: as TestOnlyARecurrentPolicyRemembers.
func TestCPMRemembersWithARecurrentCore(t *testing.T) {
	task := libtest.DefaultIdentity()
	task.Late, task.Symbols = true, 2
	c := smallCPM()
	c.Core = smallGRU()
	e := toy(task, libtest.MAPPO(), 128*12)
	e.Policy = c
	libtest.CheckLearns(t, e, 2.7)
}

func TestCPMActsOnItsOwnObservationAndMemoryOnly(t *testing.T) {
	c := smallCPM()
	for _, c.Core = range []policy.Config{policy.MLP{Hidden: []int{16}}, smallGRU()} {
		for _, task := range identities() {
			libtest.CheckDecentralised(t, task, libtest.MAPPO(), c)
		}
	}
}

// TestCPMLearnsWithValuesToo: for value learners, the policy vector is the softmax of utilities. Replayed steps start
// from the predictions stored with them.
func TestCPMLearnsWithValuesToo(t *testing.T) {
	c := smallCPM()
	c.Lag = 128 * 40 // a dozen rollout batches are few for adjusting to predicted peers
	e := toy(libtest.DefaultIdentity(), smallQ(), 128*12)
	e.Policy = c
	libtest.CheckLearns(t, e, 3.8)
}
