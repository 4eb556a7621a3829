// SPDX-License-Identifier: Apache-2.0

package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Activation is an elementwise function between layers.
type Activation func(x *Node) *Node

// LeakyReLU is max(x, 0.2·x), the slope of the Dynamic Bottleneck networks.
func LeakyReLU(x *Node) *Node { return Max(x, MulScalar(x, 0.2)) }

// ReLU is max(x, 0) with gradient 0 at 0, as a product with a mask: several times quicker than Max on the pure Go
// backend, equal on XLA.
func ReLU(x *Node) *Node {
	return Mul(x, StopGradient(ConvertDType(GreaterThan(x, ZerosLike(x)), x.DType())))
}

// ELU is x where x > 0, else exp(x) − 1.
func ELU(x *Node) *Node {
	return Where(GreaterThan(x, ZerosLike(x)), x, MinusOne(Exp(MinScalar(x, 0))))
}

// Linear maps x [B, in] to [B, out] with torch's default initialisation, U(±1/√in) for weights and bias.
func Linear(sc *model.Scope, x *Node, out int) *Node {
	x.AssertRank(2)
	in := x.Shape().Dimensions[1]
	w := Weight(sc, x, "weights", FanIn(in), in, out)
	b := Weight(sc, x, "bias", FanIn(in), out)
	return Add(Dot(x, w).Product(), ExpandLeftToRank(b, 2))
}

// Normalize is layer normalisation over the last axis without gain and bias, ε = 1e-5.
func Normalize(x *Node) *Node {
	mean := ReduceAndKeep(x, ReduceMean, -1)
	centred := Sub(x, mean)
	variance := ReduceAndKeep(Square(centred), ReduceMean, -1)
	return Div(centred, Sqrt(AddScalar(variance, 1e-5)))
}

// LinearEach is Linear with weights of its own for each group: x [G,B,in] to [G,B,out].
func LinearEach(sc *model.Scope, x *Node, out int) *Node {
	x.AssertRank(3)
	groups, in := x.Shape().Dimensions[0], x.Shape().Dimensions[2]
	w := Weight(sc, x, "weights", FanIn(in), groups, in, out)
	b := Weight(sc, x, "bias", FanIn(in), groups, 1, out)
	return Add(Einsum("gbi,gio->gbo", x, w), b)
}
