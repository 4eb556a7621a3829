// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"slices"
	"testing"

	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// hidingSpec is fakeSpec with observations that do not show peers.
func hidingSpec(c int) *envs.Spec {
	s := fakeSpec(c)
	s.HidesPeers = true
	return s
}

// labelled is fakeRollout with labels: from the second step of an episode on, every agent sees peer 0 at (1, -1).
func labelled(spec *envs.Spec, t, iteration int) *rl.Rollout {
	x := fakeRollout(spec, t, iteration)
	if x.Visible == nil {
		x.KeepLabels()
	}
	for row := spec.NumEnvs * spec.Agents; row < x.Rows(); row++ {
		if x.IsFirst[row/x.N] == 0 && row%x.N != 0 {
			at := row * x.N
			x.Visible[at], x.RelPos[2*at], x.RelPos[2*at+1] = 1, 1, -1
		}
	}
	return x
}

func TestOnlyTheModuleReadsTheChannelsOfPeers(t *testing.T) {
	spec := hidingSpec(4)
	m, store := newModule(t, small(), spec, 1)
	if got := store.GetVariable("/cermic/encoder/layer_0/weights").Shape().Dimensions[1]; got != 5+3*3 {
		t.Errorf("θ reads %d numbers, want o_t and three of each of three agents", got)
	}
	x := labelled(spec, 9, 0)
	before := slices.Clone(x.Obs)
	must.Value(m.Reward(t.Context(), x))
	with := slices.Clone(m.raw)
	clear(x.Visible)
	must.Value(m.Reward(t.Context(), x))
	for row, r := range m.raw {
		if sees := x.IsFirst[row/x.N] == 0 && row%x.N != 0; (r != with[row]) != sees {
			t.Fatalf("agent step %d: r^i is %g with labels and %g without; a peer is visible: %v",
				row, with[row], r, sees)
		}
	}
	if !slices.Equal(before, x.Obs) || x.Spec != spec {
		t.Error("the rollout that actor and critic learn from has changed")
	}
	needs, err := small().Requires(graphtest.Build(spec, 1))
	if err != nil || !needs.Labels {
		t.Errorf("Requires returns labels %v, %v, but the channels need labels", needs.Labels, err)
	}
}

func TestShareOfSightings(t *testing.T) {
	spec := fakeSpec(1)
	m, _ := newModule(t, small(), spec, 1)
	// Steps 0 to 6 are an episode, 7 and 8 belong to the next. Agents 1 and 2 see agent 0 from the second step on.
	if got, want := m.sightings(labelled(spec, 9, 0)), 2*(6.+1)/27; got != want {
		t.Errorf("the share of sightings is %g, want %g", got, want)
	}
	x := fakeRollout(spec, 3, 1)
	x.KeepLabels()
	x.IsFirst[0] = 0 // the second episode continues
	if got := m.sightings(x); got != 2./3 {
		t.Errorf("the share in the next rollout is %g, want 2/3", got)
	}
	y := labelled(spec, 9, 0)
	clear(y.Alive)
	if got := m.sightings(y); got != 0 {
		t.Errorf("the share of dead agents is %g, want 0", got)
	}
}

func TestModuleTakesTheConfiguredGradientSteps(t *testing.T) {
	spec := fakeSpec(4)
	c := small()
	for _, steps := range []int{1, 5, 40} { // an epoch over the 108 agent steps has 7
		c.Steps = steps
		m, _ := newModule(t, c, spec, 1)
		seen := map[int32]int{}
		for rows, weight := range m.minibatches(fakeRollout(spec, 9, 0)) {
			for i, row := range rows {
				seen[row] += int(weight[i])
			}
		}
		s, err := m.Update(t.Context(), fakeRollout(spec, 9, 0))
		if err != nil || s["cermic/steps"] != float64(steps) {
			t.Errorf("cermic_steps=%d: %g gradient steps, %v", steps, s["cermic/steps"], err)
		}
		most := 0
		for _, n := range seen {
			most = max(most, n)
		}
		if want := (steps*16 + 107) / 108; most > want {
			t.Errorf("%d minibatches of 16 contain an agent step %d times, want at most %d", steps, most, want)
		}
	}
}
