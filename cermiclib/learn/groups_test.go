// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
)

// TestEachGroupLearnsWhatItIsPaidFor: all agents have the same observation. Namers are rewarded for naming its symbol,
// and the hider loses as much. The best returns are 4 and 0; guesses return 1 and -1. One learner for both groups, or
// one trained on the mean reward, finds only one of them.
func TestEachGroupLearnsWhatItIsPaidFor(t *testing.T) {
	if testing.Short() {
		t.Skip("learning takes seconds")
	}
	for name, l := range map[string]learn.Config{"mappo": libtest.MAPPO(), "qmix": smallQ()} {
		t.Run(name, func(t *testing.T) {
			task := libtest.DefaultIdentity()
			task.Rivals, task.Same = true, true
			evals := libtest.Train(t, toy(task, l, 128*16)).Evals
			last := evals[len(evals)-1]
			if namer, hider := last.Group("namer"), last.Group("hider"); !(namer > 3.6 && hider > -0.2) {
				t.Errorf("namers return %.3f and the hider %.3f, want 4 and 0", namer, hider)
			}
		})
	}
}
