// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Q_tot of a monotonic mixer never falls when one agent's utility rises, in 200 random states and utilities of 3 agents
// with random weights.
func TestMonotonicMixersNeverFallWhenAUtilityRises(t *testing.T) {
	for _, c := range []learn.MixerConfig{
		learn.QMIX{Embed: 8}, smallSPECTra(),
	} {
		t.Run(c.Kind(), func(t *testing.T) { checkMonotonic(t, c) })
	}
}

func checkMonotonic(t *testing.T, c learn.MixerConfig) {
	t.Helper()
	const rows, agents, state, obs, choices = 200, 3, 7, 4, 4
	spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: agents, Obs: []int{obs}, State: state, Act: envs.ActSpec{Choices: choices}}
	b := graphtest.Build(spec, 1)
	mixer := must.Value(c.Build(b))
	inputs := []nn.Input{nn.F32("chosen", rows, agents), nn.F32("state", rows, state), nn.F32("obs", rows, agents, obs)}
	r := rng.New(1, "mixer")
	draw := func(n int) []float32 { return graphtest.Normal(r, make([]float32, n)) }
	slope := graphtest.Outputs(b, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		zero := graph.OneHot(graph.ConvertDType(graph.ZerosLike(in[0]), dtypes.Int32), choices, in[0].DType())
		for i := range in {
			in[i] = graph.MulScalar(in[i], 2)
		}
		total := mixer.Mix(sc.At("mixer"), learn.QIn{Chosen: in[0], Max: in[0], OneHot: zero, Obs: in[2], State: in[1]})
		return graph.Gradient(graph.ReduceAllSum(total), in[0])
	}, draw(rows*agents), draw(rows*state), draw(rows*agents*obs))[0]
	positive := 0
	for k, s := range slope {
		if s < 0 || s != s {
			t.Fatalf("row %d: Q_tot changes by %g per unit of utility of agent %d", k/agents, s, k%agents)
		}
		if s > 0 {
			positive++
		}
	}
	if positive < len(slope)/2 {
		t.Errorf("only %d of %d utilities have an effect", positive, len(slope))
	}
}
