// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
	"cermic/envs/envtest"
)

// TestEveryLearnerActsOnItsOwnObservationOnly, whatever it learns from.
func TestEveryLearnerActsOnItsOwnObservationOnly(t *testing.T) {
	moment := rl.Schedule{Frames: 64, Rollout: 32, Epochs: 1, Minibatch: 16, Steps: 2, Batch: 8, Replay: 64, Width: 8}
	for _, kind := range conf.Kinds[learn.Config]() {
		t.Run(kind, func(t *testing.T) {
			c := envtest.Must(conf.New[learn.Config](kind))
			libtest.CheckDecentralised(t, libtest.DefaultIdentity(), rl.OnSchedule(c, moment), rl.OnSchedule[policy.Config](policy.DefaultMLP(), moment))
		})
	}
}
