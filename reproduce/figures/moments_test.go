// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
)

func TestMomentsAreBranchPointsAndEndsByFrames(t *testing.T) {
	st := libtest.Store(t)
	ask := func(task string, seed uint64, set ...string) experiment.Config {
		set = append(set, "budget.frames=3000", "learner.critic_hidden=8", "policy.hidden=8")
		return must.Get(plan.New(plan.In(plan.Request{Task: task, Method: "mappo", Budget: "smoke", Seed: seed, Set: set})))(t)
	}
	left := ask("explore/rooms", 1)
	libtest.Stop(t, left, 1000, st)
	fork := must.Get(plan.Turn(st, left, ask("explore/rooms", 1, "learner.lr=0.001")))(t)
	want := []string{must.Get(left.ID())(t), must.Get(fork.ID())(t)}
	for _, e := range []experiment.Config{fork, ask("explore/rooms", 2), ask("explore/rooms task.tv=screen", 1)} {
		must.Get(experiment.Run(t.Context(), e, st))(t)
	}
	got := must.Get(Moments(st, left))(t)
	if len(got) != 2 || got[0].ID != want[0] || got[0].Frames != 1000 || got[1].ID != want[1] || got[1].Frames != 3000 {
		t.Errorf("%+v, want the branch point %s at 1000 frames and the fork %s at 3000", got, want[0], want[1])
	}
}
