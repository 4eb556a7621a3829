// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/nn"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// checkMonotonic fails if the mixer's Q_tot falls when one agent's utility rises. It tests 200 random states and
// utilities of 3 agents with random weights.
func checkMonotonic(t *testing.T, c learn.MixerConfig) {
	t.Helper()
	const rows, agents, state, obs, choices = 200, 3, 7, 4, 4
	spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: agents, Obs: []int{obs}, State: state, Act: envs.ActSpec{Choices: choices}}
	b := &nn.Build{Spec: spec, Backend: libtest.Backend(t), Store: nn.NewStore(1), Seed: 1}
	mixer := must.Value(c.Build(b))
	inputs := []nn.Input{nn.F32("chosen", rows, agents), nn.F32("state", rows, state), nn.F32("obs", rows, agents, obs)}
	p := must.Value(nn.NewProgram(b, "slope", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		zero := graph.OneHot(graph.ConvertDType(graph.ZerosLike(in[0]), dtypes.Int32), choices, in[0].DType())
		total := mixer.Mix(sc.At("mixer"), learn.QIn{Chosen: in[0], Max: in[0], OneHot: zero, Obs: in[2], State: in[1]})
		return graph.Gradient(graph.ReduceAllSum(total), in[0])
	}))
	r := rng.New(1, "mixer")
	for i := range inputs {
		p.Feed(i, func(dst []float32) {
			for k := range dst {
				dst[k] = 2 * r.Norm()
			}
		})
	}
	must.Do(t, p.Run())
	slope, positive := make([]float32, rows*agents), 0
	p.Read(0, slope)
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
