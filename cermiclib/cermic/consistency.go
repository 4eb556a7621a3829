// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
)

// How γ is computed from the critic's scores c⁺ and c⁻₁..c⁻_K in [0,1] (mi_bounds).
//
// Reading: the printed chain I^c ≤ I ≤ I^{1-c} does not bracket the mutual information. The main text's left side is a
// loss that falls when I grows; the right side is about 2·log K for every I. The sound pair rises with I and lies in
// [0,1]. It brackets I only below a quarter nat, so treat it as a proxy (D10).
const (
	BoundsSound    = "sound"    // γ_lo = log(K+1) + E log softmax, γ_hi = E c⁺ - E c⁻, clipped to 0 ≤ γ_lo ≤ γ_hi ≤ 1
	BoundsAppendix = "appendix" // γ_lo = I^c + log K, γ_hi = I^{1-c}, both as in the appendix
	BoundsPrinted  = "printed"  // γ_lo = I^c, γ_hi = I^{1-c}, both as in the main text
)

// How scores are mapped into [0,1] (critic_squash). Reading: "bilinear+softmax" would nest two softmaxes (D10).
const (
	SquashSigmoid = "sigmoid"
	SquashSoftmax = "softmax" // over the candidates of each agent step
)

// Form of r^e_{t-1} as input of the critic (reward_feat). Reading: rewards range from 0.01 to 200, so symlog is the
// default (D11).
const (
	FeatureSymlog     = "symlog"      // sign(r)·log(1+|r|)
	FeatureRaw        = "raw"         //
	FeatureRunningStd = "running_std" // r / running standard deviation
)

// consistency holds the critic's results on a minibatch; all are scalars.
type consistency struct {
	lo, hi *Node // γ for L_UB and L_LB
	loss   *Node // InfoNCE
	hit    *Node // E log softmax of the positive, K+1 candidates
}

// consistencyOf scores [r^e_{t-1}, f_{n-1}] against f_n and against negatives. reward is [B]; negativeScores documents
// negative; weight [B] is 1 for agent steps that have an f_{n-1}. With neg_filter, γ is 0 in minibatches without such a
// step.
//
// paper:Eq4  I^c ≤ I([r^e_{t-1}, f_{n-1}]; f_n) ≤ I^{1-c}
//
// Deviation: the paper's total loss has no term that trains the critic; nce_coef weighs the one that we add (D10).
func (c Config) consistencyOf(sc *model.Scope, f memory.Context, reward, negative, weight *Node) consistency {
	sc = sc.At("critic")
	now, before := f.Now, f.Before
	if !c.ConsistencyMemory {
		now, before = StopGradient(now), StopGradient(before)
	}
	width := now.Shape().Dimensions[1]
	// The bilinear critic g(z, f) = zᵀWf/√F with z = [r̃, f_{n-1}, 1]. W does not start at zero: noise would have no
	// effect on scores there, and the gradient would be zero.
	w := nn.Weight(sc, now, "weights", nn.FanIn(width), width+2, width)
	z := Concatenate([]*Node{InsertAxes(reward, -1), before, OnesLike(InsertAxes(reward, -1))}, -1)
	query := DivScalar(Dot(z, w).Product(), math.Sqrt(float64(width))) // [B,F]
	against, weight := c.negativeScores(query, now, negative, weight)
	pos, neg := c.squash(c.boundScores(ReduceSum(Mul(query, now), -1), against))

	all := Log(Add(Exp(pos), ReduceSum(Exp(neg), -1)))
	hit := average(Sub(pos, all), weight)
	lo, hi := c.bounds(pos, neg, hit, weight)
	if !c.ConsistencyGrad {
		lo, hi = StopGradient(lo), StopGradient(hi)
	}
	running := func(name string, value *Node) *Node {
		gamma := c.runningOver(sc, name, value, weight, nn.AllZero)
		if !c.NegFilter {
			return gamma
		}
		some := GreaterThan(ReduceAllSum(weight), ScalarZero(weight.Graph(), weight.DType()))
		return Where(some, gamma, ZerosLike(gamma))
	}
	return consistency{lo: running("gamma_lo", lo), hi: running("gamma_hi", hi), loss: Neg(hit), hit: hit}
}

// boundScores scales the scores of an agent step, positive [B] and negative [B,K], to a root mean square of at most
// critic_bound.
//
// Deviation: the paper's bilinear score is unbounded. If all candidates drift into the flat part of the sigmoid, the
// loss stays at log(K+1) and has no gradient. Any rule that picks the positive among K+1 candidates bounds the mutual
// information from below, so the bounded critic still gives a lower bound.
func (c Config) boundScores(positive, negative *Node) (pos, neg *Node) {
	if c.CriticBound == 0 {
		return positive, negative
	}
	candidates := float64(negative.Shape().Dimensions[1] + 1)
	square := DivScalar(Add(Square(positive), ReduceSum(Square(negative), -1)), candidates)
	scale := Div(ConstAs(square, c.CriticBound), Sqrt(MaxScalar(square, c.CriticBound*c.CriticBound)))
	return Mul(positive, scale), Mul(negative, InsertAxes(scale, -1))
}

// squash maps the scores of the positive [B] and of the negatives [B,K] into [0,1].
func (c Config) squash(positive, negative *Node) (pos, neg *Node) {
	if c.CriticSquash == SquashSigmoid {
		return Sigmoid(positive), Sigmoid(negative)
	}
	all := Softmax(Concatenate([]*Node{InsertAxes(positive, -1), negative}, -1), -1)
	return Squeeze(Slice(all, AxisRange(), AxisRange(0, 1)), -1), Slice(all, AxisRange(), AxisRangeToEnd(1))
}

// bounds returns γ_lo and γ_hi of the minibatch.
func (c Config) bounds(pos, neg, hit, weight *Node) (lo, hi *Node) {
	k := float64(neg.Shape().Dimensions[1])
	switch c.MIBounds {
	case BoundsAppendix:
		lo = AddScalar(average(Sub(pos, Log(ReduceSum(Exp(neg), -1))), weight), math.Log(k))
		hi = average(Sub(OneMinus(pos), Log(ReduceSum(Exp(OneMinus(neg)), -1))), weight)
		return lo, AddScalar(Neg(hi), math.Log(k))
	case BoundsPrinted:
		all := Log(Add(Exp(OneMinus(pos)), ReduceSum(Exp(OneMinus(neg)), -1)))
		return Neg(hit), Neg(average(Sub(OneMinus(pos), all), weight))
	}
	lo = ClipScalar(AddScalar(hit, math.Log(k+1)), 0, 1)
	return lo, Max(lo, ClipScalar(average(Sub(pos, ReduceMean(neg, -1)), weight), 0, 1))
}
