// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

func TestPeerChannelsFollowTheObservation(t *testing.T) {
	s := &envs.Spec{NumEnvs: 1, Agents: 2, Obs: []int{1}, State: 1, HidesPeers: true, Act: envs.ActSpec{Choices: 2}}
	x := NewRollout(s, 1, 0)
	_, err := x.WithPeers(PeerSpec(s), &Rollout{})
	must.Refuse(t, err, "KeepLabels")
	x.KeepLabels()
	step := envs.NewStep(s)
	copy(step.Obs, []float32{5, 6})
	x.Observe(0, step)
	step.Obs[0], step.Obs[1] = 7, 8
	step.Visible[1], step.RelPos[2], step.RelPos[3] = 1, .5, -.25 // agent 0 sees agent 1 when the episode ends
	step.RelPos[4], step.RelPos[5] = 9, 9                         // agent 1 does not see agent 0
	x.Terminated[0] = 1
	x.End(0, 0, step)
	step.Obs[0], step.Obs[1] = 1, 2
	clear(step.Visible)
	x.Observe(1, step)

	spec := PeerSpec(s)
	v := must.Value(x.WithPeers(spec, &Rollout{}))
	if v.Spec.ObsLen() != 7 || v.Spec.InLen() != 7 || x.Spec.ObsLen() != 1 {
		t.Fatalf("observations have length %d, want 1+3; the original rollout's %d",
			v.Spec.ObsLen(), x.Spec.ObsLen())
	}
	got := make([]float32, 7)
	for row, want := range [][]float32{{7, 0, 0, 0, 1, .5, -.25}, {8, 0, 0, 0, 0, 0, 0}} {
		if v.GatherNext(got, row); !slices.Equal(got, want) {
			t.Errorf("agent %d: last observation %v, want %v", row, got, want)
		}
	}
	if v.Gather(got, 0); !slices.Equal(got, []float32{5, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("agent 0: first observation %v", got)
	}
	again, _ := x.WithPeers(spec, v)
	if v.GatherNext(got, 0); again != v || got[4] != 1 {
		t.Errorf("a reused buffer has %v", got)
	}
	if PeerSpec(spec) != spec {
		t.Error("peers have two channels")
	}
}
