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

// What negatives are (neg_kind).
//
// Reading: the main text adds noise to f_n, the appendix draws negatives independently, which its proof needs. With noise the
// critic measures denoising, and γ_lo is positive even for independent variables. The features suffer, too: on navigation,
// after 90,000 frames, their spread is 0.21 with noise and 0.80 without, γ 0.20 to 0.29 and 0.79 to 0.88. So the appendix's is the default (D9).
const (
	NegativesMarginal = "marginal" // f_n of other agent steps of the minibatch, from other copies of the task where it holds some
	NegativesNoise    = "noise"    // f_n plus noise
)

// What the critic sees of r^e_{t-1} (reward_feat). Reading: rewards can be 200 or 0.01, so they are squashed (D11).
const (
	FeatureSymlog     = "symlog"      // sign(r)·log(1+|r|)
	FeatureRaw        = "raw"         //
	FeatureRunningStd = "running_std" // r / running standard deviation
)

// spreadTiny keeps the length of a vector differentiable at zero.
const spreadTiny = 1e-12

// consistency is what the critic says about a minibatch; all scalars.
type consistency struct {
	lo, hi *Node // γ for L_UB and L_LB
	loss   *Node // InfoNCE
	hit    *Node // E log softmax of the positive, K+1 candidates
}

// consistencyOf scores [r^e_{t-1}, f_{n-1}] against f_n and against negatives. reward [B], negative as negativeScores says,
// weight [B] is 1 for the agent steps that have an f_{n-1}.
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
	pos, neg := c.squash(ReduceSum(Mul(query, now), -1), c.negativeScores(query, now, negative, weight))

	all := Log(Add(Exp(pos), ReduceSum(Exp(neg), -1)))
	hit := average(Sub(pos, all), weight)
	lo, hi := c.bounds(pos, neg, hit, weight)
	if !c.ConsistencyGrad {
		lo, hi = StopGradient(lo), StopGradient(hi)
	}
	return consistency{
		lo:   c.runningOver(sc, "gamma_lo", lo, weight, nn.AllZero),
		hi:   c.runningOver(sc, "gamma_hi", hi, weight, nn.AllZero),
		loss: Neg(hit),
		hit:  hit,
	}
}

// negativeScores returns the critic's scores of the negatives [B,K], for query [B,F] and f_n [B,F].
//
// For noise, negative [B,K] holds standard normal numbers. A negative is f_n + κ·s⊙ε with ε ~ N(0, I) and s the spread of f_n over
// the minibatch, and its score g is linear in it: g(f_n) + κ·⟨query⊙s, ε⟩, and the inner product is N(0, ‖query⊙s‖²). So one
// number for each score has exactly the distribution of drawing all F components of the noise, for 1/F of the work.
//
// Reading: gradients pass through f_n and s in its negatives, too. Stopping either leaves the loss with a way out that the
// paper cannot mean: features that are the same for everyone, with γ = 0. (Spread of f_n after 750 gradient steps, from
// 0.58: 0.06 with a fixed s, 0.09 within 500 with a fixed f_n, 0.27 as it is, with γ from 0.24 to 0.34. With
// critic_squash=softmax it still collapses to 0.09.)
//
// For marginal, negative [B,K] holds the minibatch rows of other agent steps, as int32.
func (c Config) negativeScores(query, now, negative, weight *Node) *Node {
	if c.NegKind == NegativesMarginal {
		return pick(Dot(query, Transpose(now, 0, 1)).Product(), negative)
	}
	variance := Mul(Square(query), componentVariance(now, weight))
	length := Sqrt(AddScalar(ReduceAndKeep(variance, ReduceSum, -1), spreadTiny))
	centre := ReduceAndKeep(Mul(query, now), ReduceSum, -1)
	return Add(centre, Mul(MulScalar(length, c.NegScale), negative))
}

// pick returns scores[b, rows[b,k]] [B,K] for scores [B,B].
func pick(scores, rows *Node) *Node {
	dims := rows.Shape().Dimensions
	own := Iota(rows.Graph(), rows.Shape(), 0)
	at := Concatenate([]*Node{InsertAxes(own, -1), InsertAxes(rows, -1)}, -1) // [B,K,2]
	return Reshape(Gather(scores, at), dims...)
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
