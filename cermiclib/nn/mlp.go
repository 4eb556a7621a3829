// SPDX-License-Identifier: Apache-2.0

package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// MLP maps x [B, in] to [B, out] through hidden layers with act after each; the output is linear. Weights are [out,
// in] and start as torch's do.
//
// Inside, activations are feature-major, [features, B]: the weight gradient then contracts over the contiguous axis
// of both factors, which XLA's CPU matrix product does 1.5 times quicker than over the outermost one. Only the narrow
// input and output are transposed.
func MLP(sc *model.Scope, x *Node, hidden []int, act Activation, out int) *Node {
	x.AssertRank(2)
	x = Transpose(x, 0, 1)
	for i, width := range hidden {
		x = act(Affine(sc.At("layer_%d", i), x, width))
	}
	return Transpose(Affine(sc.At("out"), x, out), 0, 1)
}

// Affine maps feature-major x [in, B] to W·x + b [out, B].
func Affine(sc *model.Scope, x *Node, out int) *Node {
	in := x.Shape().Dimensions[0]
	w := Weight(sc, x, "weights", FanIn(in), out, in)
	b := Weight(sc, x, "bias", FanIn(in), out, 1)
	return Add(Dot(w, x).Product(), b)
}
