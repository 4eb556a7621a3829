// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

const (
	steps, copies, agents, seen, outputs = 5, 2, 3, 4, 6
)

// build makes the inputs of a policy for a made-up task.
func build() *nn.Build {
	return graphtest.Build(&envs.Spec{Name: "fake", NumEnvs: copies, Agents: agents, Obs: []int{seen}, State: 1,
		Act: envs.ActSpec{Choices: outputs}}, 1)
}

func normals(n int, r *rng.Rand) []float32 { return graphtest.Normal(r, make([]float32, n)) }

// stepOf is one step of a policy at obs: its outputs, and the hidden state that follows.
func stepOf(b *nn.Build, p Policy, outputs int, obs, hidden []float32) (y, next []float32) {
	inputs := []nn.Input{nn.F32("obs", copies, agents, seen), nn.F32("hidden", copies, agents, p.HiddenLen())}
	out := graphtest.Outputs(b, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		y, next := p.Net(sc.At("actor"), in[0], in[1], outputs)
		return []*graph.Node{y, next}
	}, obs, hidden)
	return out[0], out[1]
}

// TestUnrolledStepsAreSteps: a recurrent policy trained on a chunk must reproduce the outputs that it acted on, also
// when an episode starts inside.
func TestUnrolledStepsAreSteps(t *testing.T) {
	recurrent := smallCPM()
	recurrent.Core = GRU{Width: 7, Hidden: []int{5}, Steps: steps}
	for _, c := range []Config{
		recurrent.Core, smallCPM(), recurrent, SPECTra{Width: 6, Heads: 2, Steps: steps},
	} {
		b := build()
		p := must.Value(c.Build(b))
		r := rng.New(1, "inputs")
		obs, hidden := normals(steps*copies*agents*seen, r), normals(copies*agents*p.HiddenLen(), r)
		keep := slices.Repeat([]float32{1}, steps*copies*agents)
		const fresh = 3 // step at which the second copy starts an episode
		clear(keep[(fresh*copies+1)*agents : (fresh*copies+2)*agents])
		chunk := []nn.Input{nn.F32("obs", steps, copies, agents, seen), nn.F32("keep", steps, copies, agents),
			nn.F32("hidden", copies, agents, p.HiddenLen())}
		want := graphtest.Outputs(b, chunk, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{p.(Recurrent).Unroll(sc.At("actor"), in[0], in[1], in[2], outputs)}
		}, obs, keep, hidden)[0]
		const each = copies * agents * seen
		for k := range steps {
			if k == fresh {
				clear(hidden[agents*p.HiddenLen():])
			}
			var got []float32
			got, hidden = stepOf(b, p, outputs, obs[k*each:(k+1)*each], hidden)
			for i, v := range got {
				// sums of the same numbers in another order
				if math.Abs(float64(v-want[k*len(got)+i])) > 1e-6 {
					t.Fatalf("%+v: output %d of step %d is %g alone and %g in its chunk", c, i, k, v, want[k*len(got)+i])
				}
			}
		}
	}
}

func TestImpossiblePoliciesGetASentence(t *testing.T) {
	for _, c := range []Config{
		MLP{Hidden: []int{0}}, GRU{Steps: 1}, GRU{Width: 1}, GRU{Width: 1, Steps: 1, Hidden: []int{-1}},
		SPECTra{Width: 6, Heads: 4, Steps: 1}, SPECTra{Width: 4, Heads: 2},
	} {
		if conf.Validate(c) == nil {
			t.Errorf("%+v: accepted", c)
		}
	}
}
