// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

func smallSPECTra() learn.SPECTra { return learn.SPECTra{Embed: 8, Heads: 2} }

// mixSPECTra is Q_tot of one frame of agents with the given utilities and observations of 3 numbers.
func mixSPECTra(t *testing.T, utility, obs []float32) (total float64, parameters int) {
	t.Helper()
	n := len(utility)
	spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: n, Obs: []int{3}, Act: envs.ActSpec{Choices: 2}}
	b := graphtest.Build(spec, 2)
	mixer := must.Value(smallSPECTra().Build(b))
	inputs := []nn.Input{nn.F32("utility", 1, n), nn.F32("obs", 1, n, 3)}
	out := graphtest.Outputs(b, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{mixer.Mix(sc.At("mixer"), learn.QIn{Chosen: in[0], Obs: in[1]})}
	}, utility, obs)
	return float64(out[0][0]), nntest.NumParameters(nn.Variables(b.Store, "/"))
}

func TestSPECTraMixesAgentsInAnyOrder(t *testing.T) {
	r := rng.New(1, "spectra")
	utility, obs := make([]float32, 4), make([]float32, 12)
	for _, v := range [][]float32{utility, obs} {
		for i := range v {
			v[i] = 2 * r.Norm()
		}
	}
	want, few := mixSPECTra(t, utility, obs)
	swap := func(v []float32, width int) {
		for i := range width {
			v[i], v[2*width+i] = v[2*width+i], v[i]
		}
	}
	swap(utility, 1)
	other, _ := mixSPECTra(t, utility, obs)
	swap(obs, 3)
	got, _ := mixSPECTra(t, utility, obs)
	// sums of the same numbers in another order
	if math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
		t.Errorf("agents 0 and 2 change places: %g, want %g", got, want)
	}
	if math.Abs(other-want) < 1e-4 {
		t.Error("it does not matter whose utility is whose")
	}
	if _, many := mixSPECTra(t, make([]float32, 9), make([]float32, 27)); few != many {
		t.Errorf("%d parameters for 4 agents, %d for 9", few, many)
	}
}

func TestImpossibleSPECTraMixersGetASentence(t *testing.T) {
	for _, c := range []learn.SPECTra{{Embed: 8, Heads: 3}, {Embed: 0, Heads: 1}, {Embed: 8}} {
		if conf.Validate(c) == nil {
			t.Errorf("%+v: accepted", c)
		}
	}
}
