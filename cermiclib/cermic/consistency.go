// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
)

// How γ is read off the critic's scores c⁺ and c⁻₁..c⁻_K in [0,1] (mi_bounds).
//
// Reading: the printed chain I^c ≤ I ≤ I^{1-c} is no bracket of the mutual information: the main text's left side is a loss
// that falls when I grows, and the right side is about 2·log K whatever I is. The sound pair rises with I and lies in
// [0,1]; it brackets I only below a quarter nat, so treat it as a proxy (D10).
const (
	BoundsSound    = "sound"    // γ_lo = log(K+1) + E log softmax, γ_hi = E c⁺ - E c⁻, clipped to 0 ≤ γ_lo ≤ γ_hi ≤ 1
	BoundsAppendix = "appendix" // γ_lo = I^c + log K, γ_hi = I^{1-c}, both as in the appendix
	BoundsPrinted  = "printed"  // γ_lo = I^c, γ_hi = I^{1-c}, both as in the main text
)

// How scores get into [0,1] (critic_squash). Reading: "bilinear+softmax" would be a softmax inside another one (D10).
const (
	SquashSigmoid = "sigmoid"
	SquashSoftmax = "softmax" // over the candidates of each agent step
)

// What the critic sees of r^e_{t-1} (reward_feat). Reading: rewards can be 200 or 0.01, so they are squashed (D11).
const (
	FeatureSymlog     = "symlog"      // sign(r)·log(1+|r|)
	FeatureRaw        = "raw"         //
	FeatureRunningStd = "running_std" // r / running standard deviation
)

// consistency is what the critic says about a minibatch; all scalars.
type consistency struct {
	lo, hi *Node // γ for L_UB and L_LB
	loss   *Node // InfoNCE
	hit    *Node // E log softmax of the positive, K+1 candidates
}

// consistencyOf scores [r^e_{t-1}, f_{n-1}] against f_n and against negatives. reward [B], negative as negativeScores says,
// weight [B] is 1 for the agent steps that have an f_{n-1}; with neg_filter, γ is 0 while none has.
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
	// The bilinear critic g(z, f) = zᵀWf/√F with z = [r̃, f_{n-1}, 1]. W does not start at zero: there, noise has no effect on a
	// score, and so no gradient would leave zero.
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
		return Where(some, gamma, ZerosLike(gamma)) // nothing foretells what has no past
	}
	return consistency{lo: running("gamma_lo", lo), hi: running("gamma_hi", hi), loss: Neg(hit), hit: hit}
}

// boundScores scales the scores of an agent step, positive [B] and negative [B,K], down to a root mean square of
// critic_bound where theirs is larger.
//
// Deviation: the paper's bilinear score is unbounded. Where all candidates drift into the flat part of the sigmoid, the
// loss stays at log(K+1) and no gradient leads back. Any rule that picks the positive among K+1 candidates estimates the
// mutual information from below, so that the estimate stays one.
func (c Config) boundScores(positive, negative *Node) (pos, neg *Node) {
	if c.CriticBound == 0 {
		return positive, negative
	}
	candidates := float64(negative.Shape().Dimensions[1] + 1)
	square := DivScalar(Add(Square(positive), ReduceSum(Square(negative), -1)), candidates)
	scale := Div(ConstAs(square, c.CriticBound), Sqrt(MaxScalar(square, c.CriticBound*c.CriticBound)))
	return Mul(positive, scale), Mul(negative, InsertAxes(scale, -1))
}

// squash brings the scores of the positive [B] and of the negatives [B,K] into [0,1].
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
	complement := func(s *Node) *Node { return OneMinus(s) }
	switch c.MIBounds {
	case BoundsAppendix:
		lo = AddScalar(average(Sub(pos, Log(ReduceSum(Exp(neg), -1))), weight), math.Log(k))
		hi = average(Sub(complement(pos), Log(ReduceSum(Exp(complement(neg)), -1))), weight)
		return lo, AddScalar(Neg(hi), math.Log(k))
	case BoundsPrinted:
		all := Log(Add(Exp(complement(pos)), ReduceSum(Exp(complement(neg)), -1)))
		return Neg(hit), Neg(average(Sub(complement(pos), all), weight))
	}
	lo = ClipScalar(AddScalar(hit, math.Log(k+1)), 0, 1)
	return lo, Max(lo, ClipScalar(average(Sub(pos, ReduceMean(neg, -1)), weight), 0, 1))
}
