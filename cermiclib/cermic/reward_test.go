// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/floats"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs/envtest/must"
)

// reward returns r^i of the agent steps of x and the scalars of Reward.
func reward(t *testing.T, m *module, x *rl.Rollout) (rl.Scalars, []float32) {
	t.Helper()
	clear(x.Intrinsic)
	s := must.Value(m.Reward(t.Context(), x))
	return s, slices.Clone(x.Intrinsic)
}

func TestRewardIsTheRootOfTheDivergence(t *testing.T) {
	c := small()
	c.IntNorm, c.IntCoef = explore.NormNone, 2
	spec := fakeSpec(2)
	m, store := newModule(t, c, spec, 1)
	x := fakeRollout(spec, 4, 0)
	x.Intrinsic[0] = 10
	must.Value(m.Reward(t.Context(), x))
	// The code of row 5 by hand: θ, φ and the closed form.
	act := make([]float32, 2)
	x.ActionVector(act, 5)
	params := nntest.Read(nn.Variables(store, "/cermic"), "/cermic/")
	hidden := func(layer string, in []float64) []float64 {
		return nntest.Apply(nntest.Linear(params, "encoder/"+layer, in, true), nntest.Leaky)
	}
	given := func(layer string, in []float64) []float64 { // beside the action
		return nntest.Linear(params, "transition/"+layer, slices.Concat(in, nntest.Wide(act)), false)
	}
	s := nntest.Linear(params, "encoder/out", hidden("layer_1", hidden("layer_0", nntest.Wide(x.ObsRow(5)))), true)
	y := nntest.Apply(given("in", nntest.Normalize(s)), nntest.Leaky)
	for _, block := range []string{"block_0/", "block_1/"} {
		first := nntest.Apply(given(block+"first", y), nntest.Leaky)
		floats.Add(y, given(block+"second", first))
	}
	out := given("out", y)
	for i := range out[64:] {
		out[64+i] = min(max(out[64+i], c.LogScaleMin), c.LogScaleMax)
	}
	kl, _ := PsiMoments(out[:64], out[64:])
	// The graph computes in float32.
	if got, want := float64(x.Intrinsic[5]), 2*math.Sqrt(kl); math.Abs(got-want) > 1e-4*want {
		t.Errorf("r^i of row 5 is %g, want %g", got, want)
	}
	if x.Intrinsic[0] < 10 {
		t.Error("Reward overwrites the reward of another bonus")
	}
}

func TestRewardDependsOnCodeAlone(t *testing.T) {
	spec := fakeSpec(2)
	m, store := newModule(t, small(), spec, 1)
	x := fakeRollout(spec, 4, 0)
	m.fit(x)
	must.Do(t, m.form.look(t.Context(), m.raw, x))
	first := slices.Clone(m.raw)
	for _, v := range nn.Variables(store, "/cermic") {
		if !below("encoder", "transition")(v.Path()) {
			tensors.MustMutableFlatData(v.MustValue(), func(flat []float32) {
				for i := range flat {
					flat[i] += 0.5
				}
			})
		}
	}
	m.fit(x)
	must.Do(t, m.form.look(t.Context(), m.raw, x))
	if !slices.Equal(first, m.raw) {
		t.Error("r^i changes with variables outside θ and φ")
	}
}

func TestBonusDoesNotDependOnTheAgent(t *testing.T) {
	spec := fakeSpec(2)
	m, _ := newModule(t, small(), spec, 1)
	x := fakeRollout(spec, 4, 0)
	for row := 1; row < 3; row++ { // agents 1 and 2 of the first frame copy agent 0
		copy(x.ObsRow(row), x.ObsRow(0))
		copy(x.Act.Continuous[2*row:2*row+2], x.Act.Continuous[:2])
	}
	if _, bonus := reward(t, m, x); bonus[0] != bonus[1] || bonus[1] != bonus[2] {
		t.Errorf("three agents with the same step receive %v", bonus[:3])
	}
}
