// SPDX-License-Identifier: Apache-2.0

package explore_test

import (
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
	"cermic/envs"
)

func TestMain(m *testing.M) { libtest.Main(m) }

// toy is a short MAPPO on a small task with an explorer.
func toy(task envs.Config, e explore.Config, frames int) experiment.Config {
	return libtest.Toy(task, libtest.MAPPO(), e, frames)
}

// TestMAPPOWithTheBottleneckLearnsTheIdentityTask: a bonus of the default weight must not keep a policy from 4, the
// optimum.
func TestMAPPOWithTheBottleneckLearnsTheIdentityTask(t *testing.T) {
	c := explore.DefaultDB()
	c.Feat, c.Latent, c.Hidden, c.Minibatch, c.Epochs = 8, 8, 16, 96, 1
	libtest.CheckLearns(t, toy(libtest.DefaultIdentity(), c, 128*16), 3.6)
}

// TestMACELearnsTheIdentityTask: as above, with independent critics and both kinds of actions.
func TestMACELearnsTheIdentityTask(t *testing.T) {
	for _, continuous := range []bool{false, true} {
		c := explore.DefaultMACE()
		c.HindsightHidden, c.HindsightSteps, c.NoveltyWidth, c.NoveltyOut, c.Minibatch, c.NoveltyEpochs = []int{8}, 24, 8, 4, 64, 2 // as many steps as the policy takes
		task := libtest.DefaultIdentity()
		task.Continuous = continuous
		e := toy(task, c, 128*16)
		l := e.Learner.(learn.MAPPO)
		l.Critic = learn.OwnCritic
		e.Learner = l
		libtest.CheckLearns(t, e, 3.6)
	}
}
