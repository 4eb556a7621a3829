// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"cermic/envs"
)

// Scale of the squashed Gaussian: torchrl's biased_softplus_1.0, which is 1 where the network's output is 0, and its
// floor.
const (
	scaleFloor = 0.01
	scaleMin   = 1e-4
)

var scaleBias = math.Log(math.Exp(1-scaleFloor) - 1) // 0.5255

// ActionOutputs is how many numbers a network returns for the action distribution of one agent: K logits, or D means
// and D scales.
func ActionOutputs(a *envs.ActSpec) int {
	if a.Choices > 0 {
		return a.Choices
	}
	return 2 * a.Dim
}

// Gaussian splits a network's output y [..., 2D] into mean and scale [..., D] of the action before squashing.
func Gaussian(y *Node) (mean, scale *Node) {
	half := Split(y, -1, 2)
	return half[0], MaxScalar(AddScalar(Softplus(AddScalar(half[1], scaleBias)), scaleFloor), scaleMin)
}

// LogProbGaussian is the log-density [...] of the squashed action whose raw value is u [..., D], in physical units,
// summed over D:
//
//	log π(a) = Σ_d [ log N(u_d; μ_d, σ_d) − log h_d − 2(log 2 − u_d − softplus(−2u_d)) ]
func LogProbGaussian(u, mean, scale *Node, a *envs.ActSpec) *Node {
	logHalf := 0.0
	for d := range a.Dim {
		logHalf += math.Log(float64(a.High[d]-a.Low[d])/2) + 0.5*math.Log(2*math.Pi)
	}
	z := Div(Sub(u, mean), scale)
	slope := MulScalar(Sub(AddScalar(Neg(u), math.Ln2), Softplus(MulScalar(u, -2))), 2)
	each := Sub(Sub(MulScalar(Square(z), -0.5), Log(scale)), slope)
	return AddScalar(ReduceSum(each, -1), -logHalf)
}

// LogProbCategorical is the masked log-softmax of logits [..., K], whole and at choice [...]; mask [..., K] holds 1
// for allowed choices.
func LogProbCategorical(logits, mask, choice *Node) (logp, all *Node) {
	all = LogSoftmax(Allowed(logits, mask), -1)
	k := logits.Shape().Dimensions[logits.Rank()-1]
	return ReduceSum(Mul(all, OneHot(choice, k, logits.DType())), -1), all
}
