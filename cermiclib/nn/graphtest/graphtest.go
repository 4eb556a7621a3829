// SPDX-License-Identifier: Apache-2.0

// Package graphtest builds and runs small graphs in tests, on the pure Go backend, which every machine has.
package graphtest

import (
	"fmt"
	"sync"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Backend opens the pure Go backend; all calls return the same one, which tensors cannot leave.
var Backend = sync.OnceValue(func() nn.Backend { return must.Value(nn.OpenConfig(nn.Sequential)) })

// Build returns the inputs for building a component of a task, with a store of its own.
func Build(spec *envs.Spec, seed uint64) *nn.Build {
	return &nn.Build{Spec: spec, Backend: Backend(), Store: nn.NewStore(seed), Seed: seed}
}

// Func maps a scope at the store's root and the inputs of a graph to its outputs.
type Func = func(sc *model.Scope, in []*graph.Node) []*graph.Node

// Outputs compiles f, feeds each input its []float32 or []int32, runs the graph once and returns its outputs, flat.
func Outputs(b *nn.Build, inputs []nn.Input, f Func, values ...any) [][]float32 {
	var out [][]float32
	p := must.Value(nn.NewProgram(b, "test", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		nodes := f(sc, in)
		out = make([][]float32, len(nodes))
		for i, x := range nodes {
			out[i] = make([]float32, x.Shape().Size())
		}
		return nodes
	}))
	for i, v := range values {
		switch v := v.(type) {
		case []float32:
			p.Feed(i, func(dst []float32) { feed(dst, v) })
		case []int32:
			p.FeedInt(i, func(dst []int32) { feed(dst, v) })
		}
	}
	if err := p.Run(); err != nil {
		panic(err)
	}
	for i := range out {
		p.Read(i, out[i])
	}
	return out
}

// feed copies the values of an input, whose number must be right.
func feed[T any](dst, src []T) {
	if len(dst) != len(src) {
		panic(fmt.Sprintf("an input has %d values, want %d", len(src), len(dst)))
	}
	copy(dst, src)
}

// Normal overwrites dst with standard normal numbers and returns it.
func Normal(r *rng.Rand, dst []float32) []float32 {
	for i := range dst {
		dst[i] = r.Norm()
	}
	return dst
}

// Fill overwrites dst with v.
func Fill[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

// Set overwrites the first values of a variable.
func Set(store *model.Store, path string, values ...float32) {
	v := store.GetVariable(path).MustValue()
	tensors.MustMutableFlatData(v, func(flat []float32) { copy(flat, values) })
}

// CopyVariables gives the variables of a store the values that they have in another one.
func CopyVariables(to, from *model.Store) {
	for _, v := range nn.Variables(from, "") {
		if err := to.GetVariable(v.Path()).SetValue(must.Value(v.MustValue().LocalClone())); err != nil {
			panic(err)
		}
	}
}
