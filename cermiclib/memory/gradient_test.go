// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs/envtest/must"
	"cermic/envs/rng"

	"cermic/cermiclib/nn"
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
	backend := pureGo(t)
	build := &nn.Build{Spec: trio(), Backend: backend, Store: nn.NewStore(1), Seed: 1}
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
	slopes := must.Value(model.NewExec(backend.Backend, build.Store, func(sc *model.Scope, in []*Node) []*Node {
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
	values := must.Value(model.NewExec(backend.Backend, build.Store, func(sc *model.Scope, in []*Node) []*Node { return []*Node{goal(sc, in)} }))
	for i, v := range vars {
		gradient := must.Value(tensors.CopyFlatData[float64](out[i]))
		direction, want := make([]float64, len(gradient)), 0.0
		for k := range direction {
			direction[k] = float64(r.Norm())
			want += direction[k] * gradient[k]
		}
		at := func(step float64) float64 {
			tensors.MustMutableFlatData(v.MustValue(), func(flat []float64) {
				for k := range flat {
					flat[k] += step * direction[k]
				}
			})
			out := must.Value(values.Call(args...))
			return tensors.ToScalar[float64](out[0])
		}
		// Small, since a step must not carry any of ten thousand activations over LeakyReLU's kink. Rounding is then
		// 1e-15·|L|/h, with |L| in the hundreds, a few 1e-6.
		const h = 1e-7
		got := (at(h) - at(-2*h)) / (2 * h)
		at(h)
		if math.Abs(got-want) > 2e-5*max(1, math.Abs(want)) {
			t.Errorf("%s: the goal changes by %.9f along a direction in which its gradient is %.9f", v.Path(), got, want)
		}
		if want == 0 {
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
