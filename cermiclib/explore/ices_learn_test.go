// SPDX-License-Identifier: Apache-2.0

package explore_test

import (
	"testing"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
)

// toyICES is an ICES of a few numbers.
func toyICES(steps int) explore.ICES {
	c := explore.DefaultICES()
	c.Hidden, c.PolicyWidth, c.Batch, c.Steps, c.Latent = []int{8}, []int{8}, 32, steps, 2
	c.Ratio, c.RatioEnd, c.RatioFrames = 0.3, 0.05, 128*10
	return c
}

// TestICESKeepsNoLearnerFromTheIdentityTask trains a value learner with a mask, which panics on a forbidden action. It
// also trains a policy gradient, which must weigh the actions that are not its own. The optimum is 4.
func TestICESKeepsNoLearnerFromTheIdentityTask(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	task := libtest.DefaultIdentity()
	task.Masked = true
	q := toy(task, toyICES(4), 128*12)
	l := learn.DefaultQ().WithQPLEX()
	l.Frames, l.Steps, l.Batch, l.Replay, l.EpsFrames, l.LR, l.Polyak = 128, 40, 32, 4096, 1024, 0.01, 0.1
	l.Mixer = learn.QPLEX{Hidden: 8, Heads: 2, AdvLayers: 1}
	q.Learner = l
	libtest.CheckLearns(t, q, 3.6)
	libtest.CheckLearns(t, toy(task, toyICES(4), 128*16), 3.4)
}
