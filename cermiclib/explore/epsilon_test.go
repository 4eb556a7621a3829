// SPDX-License-Identifier: Apache-2.0

package explore_test

import (
	"math"
	"reflect"
	"testing"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/libtest"
)

func TestNoEpsilonIsMAPPOBitForBit(t *testing.T) {
	for name, continuous := range map[string]bool{"discrete": false, "continuous": true} {
		task := libtest.DefaultIdentity()
		task.Continuous = continuous
		none := explore.DefaultEpsilon()
		none.Init, none.End = 0, 0
		want, got := libtest.Train(t, toy(task, explore.None{}, 512)), libtest.Train(t, toy(task, none, 512))
		delete(got.Scalars, "epsilon")
		if !reflect.DeepEqual(want.Evals, got.Evals) || !reflect.DeepEqual(want.Scalars, got.Scalars) {
			t.Errorf("%s: ε = 0 trains to\n%v\n%v, MAPPO to\n%v\n%v", name, got.Evals, got.Scalars, want.Evals, want.Scalars)
		}
	}
}

// TestEpsilonGreedyLearnsTheIdentityTask, from half of all actions uniform to none; evaluation is without ε, so the
// optimum 4 stays in reach.
func TestEpsilonGreedyLearnsTheIdentityTask(t *testing.T) {
	for _, continuous := range []bool{false, true} {
		task := libtest.DefaultIdentity()
		task.Continuous, task.Masked = continuous, !continuous // masked: it panics on a forbidden action
		e := explore.Epsilon{Init: 0.5, End: 0, Frames: 128 * 10}
		libtest.CheckLearns(t, toy(task, e, 128*16), 3.4)
	}
}

func TestEpsilonFallsWithTheFramesTrained(t *testing.T) {
	e := explore.Epsilon{Init: 0.8, End: 0.2, Frames: 256}
	r := libtest.Train(t, toy(libtest.DefaultIdentity(), e, 512))
	for k, want := range []float64{0.8, 0.5, 0.2, 0.2} {
		if got := r.Scalars["epsilon"][k].Value; math.Abs(got-want) > 1e-9 {
			t.Errorf("collection %d: ε is %g, want %g", k, got, want)
		}
	}
}
