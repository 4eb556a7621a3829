// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// maceSpec is a made-up task of 2 environments and 3 agents.
func maceSpec(discrete bool) *envs.Spec {
	s := &envs.Spec{Name: "fake", NumEnvs: 2, Agents: 3, Obs: []int{2}, State: 6, Act: envs.ActSpec{Dim: 1, Low: []float32{-1}, High: []float32{3}}}
	if discrete {
		s.Act, s.Masked = envs.ActSpec{Choices: 3}, true
	}
	return s
}

// smallMACE trains in one step on all of a small rollout, with networks small enough for differences of losses.
func smallMACE() MACE {
	c := DefaultMACE()
	c.HindsightHidden, c.HindsightSteps, c.NoveltyWidth, c.NoveltyLayers, c.NoveltyOut, c.NoveltyEpochs = []int{5}, 1, 4, 1, 3, 1
	c.NoveltyKeep, c.Minibatch, c.IntNorm, c.IntCoef = 1, 9, NormNone, 2
	c.LR, c.Eps, c.Adam.Clip = 0.01, 1e-3, 1e9
	return c
}

// maceRollout fills a rollout with random numbers. An episode ends with a dead agent, another agent is dead within an
// episode, and a choice is forbidden.
func maceRollout(s *envs.Spec, steps int) *rl.Rollout {
	x, r, step := rl.NewRollout(s, steps, 0), rng.New(1, "rollout"), envs.NewStep(s)
	for t := range steps + 1 {
		for i := range step.Obs {
			step.Obs[i] = 3*r.Norm() + 1
		}
		graphtest.Fill(step.Alive, 1)
		for i := range step.Mask {
			step.Mask[i] = uint8((i + 1) % 3 & 1) // the middle choice is forbidden
		}
		for i := 0; i < len(step.Mask); i += 3 {
			step.Mask[i], step.Mask[i+2] = 1, 1
		}
		if t == 1 {
			step.Alive[1] = 0
			x.Terminated[0] = 1
			x.End(0, 0, step)
		}
		if t == 2 {
			step.Alive[len(step.Alive)-1] = 0
		}
		x.Observe(t, step)
	}
	for row := range x.LogP {
		x.LogP[row] = -1 - r.Uniform(0, 1)
		if s.Act.Choices > 0 {
			x.Act.Discrete[row] = int32(2 * r.IntN(2))
		} else {
			x.Raw[row] = r.Norm()
		}
	}
	return x
}

// acted lets m see policies of random distributions at every step of x.
func acted(t *testing.T, m *mace, x *rl.Rollout) {
	t.Helper()
	d, r := rl.NewDist(x.Spec, 0), rng.New(2, "policies")
	for range x.T {
		graphtest.Normal(r, d.Logits)
		graphtest.Normal(r, d.Mean)
		for i := range d.Scale {
			d.Scale[i] = r.Uniform(0.5, 1.5)
		}
		must.Do(t, m.Behave(0, nil, d))
	}
}

// unsettle gives the variables that start at 0 random values: ReLU has no gradient there, and hindsight's last layer
// lets none through.
func unsettle(t *testing.T, store *model.Store) {
	t.Helper()
	r := rng.New(4, "unsettled")
	for _, v := range nn.Variables(store, "/"+maceScope) {
		if strings.Contains(v.Path(), "/adam/") || !strings.Contains(v.Path(), "/bias") && !strings.Contains(v.Path(), hindsightScope+"/out/") {
			continue
		}
		flat := make([]float32, v.Shape().Size())
		for i := range flat {
			flat[i] = r.Uniform(-0.5, 0.5)
		}
		must.Do(t, v.SetValue(tensors.FromFlatDataAndDimensions(flat, v.Shape().Dimensions...)))
	}
}

func newMACE(t *testing.T, c MACE, s *envs.Spec) (*mace, *model.Store) {
	t.Helper()
	b := graphtest.Build(s, 3)
	return must.Get(c.Build(b))(t).(*mace), b.Store
}

func TestMACEFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for _, discrete := range []bool{true, false} {
		c, s := smallMACE(), maceSpec(discrete)
		c.Self, c.Other, c.Influence = 0.7, 0.4, 0.5
		x := maceRollout(s, 4)
		m, store := newMACE(t, c, s)
		unsettle(t, store)
		acted(t, m, x)
		ref := newMACEReference(c, x, store)
		ref.policy = slices.Clone(m.hindsight.policy)
		got := must.Value(m.Reward(t.Context(), x))
		upper := got["mace/z_upper"]
		if want := ref.hindsightLoss(upper); math.Abs(got["mace/hindsight_loss"]-want) > 1e-5 { // float32 against float64
			t.Errorf("hindsight's loss is %g, want %g", got["mace/hindsight_loss"], want)
		}
		after := maceWeights(store)
		checkFirstStep(t, c.Adam, ref.params, after, hindsightScope, 4, 10, func() float64 { return ref.hindsightLoss(upper) })
		ref.params = after // the reward is that of the trained hindsight
		for row, pay := range x.Intrinsic {
			want := ref.pays(row, upper)
			if x.Alive[row] == 0 {
				want = 0
			}
			if math.Abs(float64(pay)-want) > 1e-4*(1+math.Abs(want)) { // as above
				t.Errorf("agent step %d is paid %g, want %g", row, pay, want)
			}
		}
		wantLoss := ref.noveltyLoss()
		got = must.Value(m.Update(t.Context(), x))
		if math.Abs(got["mace/rnd_loss"]-wantLoss) > 1e-5 {
			t.Errorf("the predictors' loss is %g, want %g", got["mace/rnd_loss"], wantLoss)
		}
		final := maceWeights(store)
		checkFirstStep(t, c.Adam, ref.params, final, predictorScope, 4, 10, ref.noveltyLoss)
		for name, v := range final {
			if strings.HasPrefix(name, targetScope) && !slices.Equal(v, after[name]) {
				t.Errorf("%s of the random target has moved", name)
			}
		}
	}
}

// TestFutureNoveltyByHand: one environment, one agent, four steps of novelty 1, 2, 4, 8; the episode ends with the
// second.
func TestFutureNoveltyByHand(t *testing.T) {
	x := rl.NewRollout(&envs.Spec{NumEnvs: 1, Agents: 1, Obs: []int{1}, State: 1, Act: envs.ActSpec{Choices: 2}}, 4, 0)
	x.Truncated[1] = 1
	z := discountAhead([]float32{1, 2, 4, 8}, x, 0.5)
	if want := []float32{1 + 0.5*2, 2, 4 + 0.5*8, 8}; !slices.Equal(z, want) {
		t.Errorf("got %v, want %v", z, want)
	}
}

// TestNoveltyFadesWhereOneStays: after training on the same steps again and again they are less new, and steps
// elsewhere are not.
func TestNoveltyFadesWhereOneStays(t *testing.T) {
	c, x := smallMACE(), maceRollout(maceSpec(true), 6)
	c.NoveltyEpochs, c.NoveltyWidth = 100, 16
	m, _ := newMACE(t, c, x.Spec)
	rate := func(x *rl.Rollout) float64 {
		u := make([]float32, x.Rows())
		must.Do(t, m.novelty.measure(t.Context(), u, x))
		return average64(u, x.Alive)
	}
	before := rate(x)
	for k := range 3 {
		x.Iteration = k
		must.Value(m.Update(t.Context(), x))
	}
	after := rate(x)
	elsewhere := maceRollout(x.Spec, 6)
	for i := range elsewhere.Obs {
		elsewhere.Obs[i] = -9 // far from where they were, N(1, 3²)
	}
	if there := rate(elsewhere); after > before/3 || there < 2*after {
		t.Errorf("novelty went from %g to %g, and is %g elsewhere", before, after, there)
	}
}

func TestSavedMACEGoesOnBitExactly(t *testing.T) {
	c := smallMACE()
	c.IntNorm, c.NoveltyKeep, c.HindsightBuffer, c.HindsightFrames = NormReturnStd, 0.5, 2, 10
	iterate := func(m *mace, k int) []float32 {
		x := maceRollout(maceSpec(true), 6)
		x.Iteration = k
		acted(t, m, x)
		must.Value(m.Reward(t.Context(), x))
		must.Value(m.Update(t.Context(), x))
		return x.Intrinsic
	}
	one, store := newMACE(t, c, maceSpec(true))
	for k := range 3 { // the buffer has gone round
		iterate(one, k)
	}
	two, copied := newMACE(t, c, maceSpec(true))
	graphtest.CopyVariables(copied, store)
	must.Do(t, two.Load(one.Save()))
	if a, b := iterate(one, 3), iterate(two, 3); !slices.Equal(a, b) {
		t.Errorf("it goes on with %v, want %v", b, a)
	}
}
