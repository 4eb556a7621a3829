// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Parts that CERMIC's module and the Dynamic Bottleneck share.

// Beside is x and y side by side in the last axis.
func Beside(x, y *Node) *Node { return Concatenate([]*Node{x, y}, -1) }

// Transition maps s [B,S] and the action [B,A] to [B,out] by two residual blocks of width hidden. Every layer reads the
// action.
func Transition(sc *model.Scope, s, act *Node, hidden, out int) *Node {
	x := LeakyReLU(Linear(sc.At("in"), Beside(s, act), hidden))
	for i := range 2 {
		block := sc.At("block_%d", i)
		y := LeakyReLU(Linear(block.At("first"), Beside(x, act), hidden))
		x = Add(x, Linear(block.At("second"), Beside(y, act), hidden))
	}
	return Linear(sc.At("out"), Beside(x, act), out)
}

// Residual adds two layers of x [B,width] to x.
func Residual(sc *model.Scope, x *Node, width int) *Node {
	return Add(x, Linear(sc.At("second"), LeakyReLU(Linear(sc.At("first"), x, width)), width))
}

// LogNormal is the log-density of each component of a Gaussian at z deviations from its mean.
func LogNormal(z, logSpread *Node) *Node {
	return Neg(AddScalar(Add(MulScalar(Square(z), 0.5), logSpread), 0.5*math.Log(2*math.Pi)))
}

// OwnLogProb is the log-probability [B] with which each row's softmax over scores [B,B] selects the row itself. Rows
// of weight [B] 0 are no candidates.
func OwnLogProb(scores, weight *Node) *Node {
	scores = Add(scores, ExpandLeftToRank(MulScalar(MinusOne(weight), 1e9), 2))
	b, logp := scores.Shape().Dimensions[0], LogSoftmax(scores, -1)
	return ReduceSum(Mul(logp, DiagonalWithValue(ScalarOne(scores.Graph(), scores.DType()), b)), -1)
}
