// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/nn"
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
	layer := func(path string, in []float64, leaky bool, more ...float32) []float64 {
		for _, a := range more {
			in = append(in[:len(in):len(in)], float64(a))
		}
		value := func(name string) *tensors.Tensor { return store.GetVariable("/cermic/" + path + name).MustValue() }
		return linear(value("/weights"), value("/bias"), in, leaky)
	}
	var s []float64
	for _, o := range x.ObsRow(5) {
		s = append(s, float64(o))
	}
	s = layer("encoder/out", layer("encoder/layer_1", layer("encoder/layer_0", s, true), true), false)
	var moments rl.Running
	for _, v := range s {
		moments.Add(v)
	}
	for i := range s {
		s[i] = (s[i] - moments.Mean) / math.Sqrt(moments.Std()*moments.Std()+1e-5)
	}
	y := layer("transition/in", s, true, act...)
	for _, block := range []string{"transition/block_0", "transition/block_1"} {
		for i, d := range layer(block+"/second", layer(block+"/first", y, true, act...), false, act...) {
			y[i] += d
		}
	}
	out := layer("transition/out", y, false, act...)
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

// linear is a dense layer. nn.MLP stores weights as [out,in], other layers as [in,out].
func linear(weights, bias *tensors.Tensor, in []float64, leaky bool) []float64 {
	dims := weights.Shape().Dimensions
	transposed := len(bias.Shape().Dimensions) == 2 // nn.MLP's bias is [out,1]
	rows := dims[1]
	if transposed {
		rows = dims[0]
	}
	out := make([]float64, rows)
	tensors.MustConstFlatData(bias, func(b []float32) {
		for o := range out {
			out[o] = float64(b[o])
		}
	})
	tensors.MustConstFlatData(weights, func(w []float32) {
		for o := range out {
			for i, x := range in {
				if transposed {
					out[o] += float64(w[o*len(in)+i]) * x
				} else {
					out[o] += float64(w[i*rows+o]) * x
				}
			}
			if leaky {
				out[o] = max(out[o], 0.2*out[o])
			}
		}
	})
	return out
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

func TestScoreRepeatsTheBonusOfTheLastRollout(t *testing.T) {
	for _, id := range []bool{false, true} {
		c := small()
		c.AgentID = id
		scoreRepeats(t, c)
	}
	c := small()
	c.Others = 1
	scoreRepeats(t, c, 1, 6)
}

// scoreRepeats checks that Score repeats Reward on a rollout in which the agents of the given steps are dead.
func scoreRepeats(t *testing.T, c Config, dead ...int) {
	t.Helper()
	spec := fakeSpec(2)
	m, _ := newModule(t, c, spec, 1)
	x := fakeRollout(spec, 4, 0)
	for _, row := range dead {
		x.Alive[row] = 0
	}
	_, bonus := reward(t, m, x)
	act := make([]float32, x.Rows()*2)
	for row := range bonus {
		x.ActionVector(act[row*2:(row+1)*2], row)
	}
	again := make([]float32, x.Rows())
	must.Do(t, m.Score(t.Context(), again, x.Obs[:x.Rows()*5], act, x.Alive[:x.Rows()]))
	for row := range again {
		if x.Alive[row] != 0 && bonus[row] != again[row] {
			t.Errorf("agent step %d: Reward gives %v, Score %v", row, bonus[row], again[row])
		}
	}
}

func TestBonusDependsOnTheAgentOnlyWithAgentID(t *testing.T) {
	spec := fakeSpec(2)
	for _, id := range []bool{false, true} {
		c := small()
		c.AgentID = id
		m, _ := newModule(t, c, spec, 1)
		x := fakeRollout(spec, 4, 0)
		for row := 1; row < 3; row++ { // agents 1 and 2 of the first frame copy agent 0
			copy(x.ObsRow(row), x.ObsRow(0))
			copy(x.Act.Continuous[2*row:2*row+2], x.Act.Continuous[:2])
		}
		_, bonus := reward(t, m, x)
		if same := bonus[0] == bonus[1] && bonus[1] == bonus[2]; same == id {
			t.Errorf("cermic_agent_id=%v: three agents with the same step receive %v", id, bonus[:3])
		}
	}
}
