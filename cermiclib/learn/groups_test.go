// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"math"
	"testing"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
)

// TestEachGroupLearnsWhatItIsPaidFor: on one observation, namers are paid for naming its symbol and the hider loses as much. Each has one
// best choice whatever the others do, so that two of three agents name it: namers earn 2/3 in each of 4 steps, and the hider loses that.
// Guessing earns 4/3. One learner for both, or one that hears of the mean reward, which is 0, cannot find it.
func TestEachGroupLearnsWhatItIsPaidFor(t *testing.T) {
	if testing.Short() {
		t.Skip("learning takes seconds")
	}
	for name, l := range map[string]learn.Config{"mappo": small(), "qmix": smallQ()} {
		t.Run(name, func(t *testing.T) {
			evals := libtest.Train(t, toy(libtest.DefaultQuarrel(), l, 128*16)).Evals
			last := evals[len(evals)-1]
			namer, hider, best := last.Group("namer"), last.Group("hider"), 8./3
			t.Logf("namers return %.3f, the hider %.3f", namer, hider)
			if !(math.Abs(namer-best) < 0.1 && math.Abs(hider+best) < 0.1) {
				t.Errorf("namers return %.3f and the hider %.3f, want %.3f and %.3f", namer, hider, best, -best)
			}
		})
	}
}
