// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"slices"
	"testing"

	"cermic/envs"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// blind is fakeSpec where observations tell nothing of peers.
func blind(c int) *envs.Spec {
	s := fakeSpec(c)
	s.HidesPeers = true
	return s
}

// labelled is fakeRollout in which every agent sees peer 0 at (1, -1) from the second step of an episode on.
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
	spec := blind(4)
	m, store := newModule(t, small(), spec, 1)
	if got := store.GetVariable("/cermic/encoder/layer_0/weights").Shape().Dimensions[1]; got != 5+3*3 {
		t.Errorf("θ reads %d numbers, want o_t and three of each of three agents", got)
	}
	x := labelled(spec, 9, 0)
	before := slices.Clone(x.Obs)
	if _, err := m.Reward(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	with := slices.Clone(m.raw)
	clear(x.Visible)
	if _, err := m.Reward(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	for row, r := range m.raw {
		if sees := x.IsFirst[row/x.N] == 0 && row%x.N != 0; (r != with[row]) != sees {
			t.Fatalf("agent step %d, which sees a peer: %v: r^i is %g with it and %g without", row, sees, with[row], r)
		}
	}
	if !slices.Equal(before, x.Obs) || x.Spec != spec {
		t.Error("the rollout that actor and critic learn from has changed")
	}
	needs, err := small().Requires(&nn.Build{Spec: spec, Backend: pureGo(t), Store: nn.NewStore(1), Seed: 1})
	if err != nil || !needs.Labels {
		t.Errorf("Requires says labels %v, %v: without them there are no channels", needs.Labels, err)
	}
	if err := m.CanScore(); err == nil {
		t.Error("a replay, which has no labels, can be scored")
	}
	open, _ := newModule(t, small(), fakeSpec(4), 1)
	if err := open.CanScore(); err != nil {
		t.Errorf("a task that shows peers by itself has no channels, yet: %v", err)
	}
}

func TestShareOfSightings(t *testing.T) {
	spec := fakeSpec(1)
	m, _ := newModule(t, small(), spec, 1)
	// Steps 0 to 6 are an episode, 7 and 8 the beginning of the next; agents 1 and 2 see agent 0 from its second step on.
	if got, want := m.sightings(labelled(spec, 9, 0)), 2*(6.+1)/27; got != want {
		t.Errorf("%g of the agent steps have a sighting before them, want %g", got, want)
	}
	x := fakeRollout(spec, 3, 1)
	x.KeepLabels()
	x.IsFirst[0] = 0 // the second episode goes on
	if got := m.sightings(x); got != 2./3 {
		t.Errorf("in the rollout after that it is %g, want 2/3", got)
	}
	y := labelled(spec, 9, 0)
	for i := range y.Alive {
		y.Alive[i] = 0
	}
	if got := m.sightings(y); got != 0 {
		t.Errorf("of the dead it is %g, want 0", got)
	}
}

func TestModuleTakesAsManyGradientStepsAsAsked(t *testing.T) {
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
			t.Errorf("asked for %d gradient steps, took %g, %v", steps, s["cermic/steps"], err)
		}
		most := 0
		for _, n := range seen {
			most = max(most, n)
		}
		if want := (steps*16 + 107) / 108; most > want {
			t.Errorf("in %d minibatches of 16 an agent step is drawn %d times, want at most %d", steps, most, want)
		}
	}
}
