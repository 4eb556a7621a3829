// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// wideInputs draws inputs of a memory in float64, as Gather could have filled them. They are normal numbers, except for
// switches and one-hot vectors, which it recognises by the input's name.
func wideInputs(in []nn.Input, r *rng.Rand) []any {
	args := make([]any, len(in))
	for i, input := range in {
		size := 1
		for _, d := range input.Dims {
			size *= d
		}
		flat, last := make([]float64, size), input.Dims[len(input.Dims)-1]
		for k := range flat {
			switch input.Name {
			case "seen", "exists", "labels", "keep":
				flat[k] = float64(r.IntN(2))
			case "own": // [N,C]: agent c mod N observes in chunk c
				if k/last == k%last%input.Dims[0] {
					flat[k] = 1
				}
			case "pick": // [C,L,L]: the graph advances at every second step
				if k%last == k/last%last/2 {
					flat[k] = 1
				}
			default:
				flat[k] = float64(r.Norm())
			}
		}
		args[i] = tensors.FromFlatDataAndDimensions(flat, input.Dims...)
	}
	return args
}

// checkMemoryGradients compares the gradient of all outputs of a memory with central differences in float64, along one
// random direction in each trainable variable.
func checkMemoryGradients(t *testing.T, c Config, rows int) {
	t.Helper()
	build := graphtest.Build(trio(), 1)
	m := must.Value(c.Build(build))
	r := rng.New(2, "memory gradients")
	args := wideInputs(m.Inputs(rows), r)
	goal := func(sc *model.Scope, in []*Node) *Node {
		f := m.Context(sc.At("memory"), in)
		value := Add(someOf(f.Now), ReduceAllSum(Square(AddScalar(f.Before, 0.3))))
		value = Add(value, someOf(Mul(f.Before, f.Now)))
		if f.Loss != nil {
			value = Add(value, ReduceAllSum(f.Loss))
		}
		return value
	}
	var vars []*model.Variable
	slopes := must.Value(model.NewExec(build.Backend.Backend, build.Store, func(sc *model.Scope, in []*Node) []*Node {
		value := goal(sc, in)
		vars = nil
		var nodes []*Node
		for _, v := range nn.Variables(build.Store, "/memory") {
			if v.Trainable {
				vars, nodes = append(vars, v), append(nodes, v.NodeValue(value.Graph()))
			}
		}
		return append(Gradient(value, nodes...), value)
	}))
	out := must.Value(slopes.Call(args...))
	values := must.Value(model.NewExec(build.Backend.Backend, build.Store, func(sc *model.Scope, in []*Node) []*Node { return []*Node{goal(sc, in)} }))
	value := func() float64 { return tensors.ToScalar[float64](must.Value(values.Call(args...))[0]) }
	for i, v := range vars {
		// The step is small, since it must not carry any of ten thousand activations over LeakyReLU's kink. Rounding is then
		// 1e-15·|L|/h, with |L| in the hundreds, a few 1e-6.
		if want := nntest.CheckSlope(t, v, must.Value(tensors.CopyFlatData[float64](out[i])), r, 1e-7, 2e-5, value); want == 0 {
			t.Errorf("%s has no gradient", v.Path())
		}
	}
}

func TestGradientsOfEveryMemoryAgreeWithDifferences(t *testing.T) {
	graph := smallGraph()
	graph.Chunk = 2
	checkMemoryGradients(t, graph, 6)
	checkMemoryGradients(t, GRU{Embed: 5, Layers: 2, Width: 6, Chunk: 3}, 6)
	checkMemoryGradients(t, MLP{Embed: 5, Hidden: 6, Width: 8}, 6)
}
