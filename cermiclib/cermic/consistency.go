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

// consistency holds the critic's results on a minibatch; all are scalars.
type consistency struct {
	lo, hi *Node // γ for L_UB and L_LB
	loss   *Node // InfoNCE
	hit    *Node // E log softmax of the positive, K+1 candidates
}

// consistencyOf scores [r^e_{t-1}, f_{n-1}] against f_n and against negatives. reward is [B], negativeScores documents
// negative, and weight [B] is 1 for agent steps that have an f_{n-1}.
//
// paper:Eq4  I^c ≤ I([r^e_{t-1}, f_{n-1}]; f_n) ≤ I^{1-c}
//
// Reading: the paper's critic is "bilinear+softmax", which would nest two softmaxes. Here a sigmoid maps scores into
// [0,1], and γ has no gradient, since L_exploit would otherwise train the critic towards a convenient γ (D10).
//
// Deviation: no term of the paper's total loss trains the critic; nce_coef weighs the one that we add (D10).
func (c Config) consistencyOf(sc *model.Scope, f memory.Context, reward, negative, weight *Node) consistency {
	sc = sc.At("critic")
	width := f.Now.Shape().Dimensions[1]
	// The bilinear critic g(z, f) = zᵀWf/√F with z = [r̃, f_{n-1}, 1]. W does not start at zero: noise would have no
	// effect on scores there, and the gradient would be zero.
	w := nn.Weight(sc, f.Now, "weights", nn.FanIn(width), width+2, width)
	z := Concatenate([]*Node{InsertAxes(reward, -1), f.Before, OnesLike(InsertAxes(reward, -1))}, -1)
	query := DivScalar(Dot(z, w).Product(), math.Sqrt(float64(width))) // [B,F]
	against, weight := c.negativeScores(query, f.Now, negative, weight)
	pos, neg := c.boundScores(ReduceSum(Mul(query, f.Now), -1), against)
	pos, neg = Sigmoid(pos), Sigmoid(neg)

	all := Log(Add(Exp(pos), ReduceSum(Exp(neg), -1)))
	hit := nn.Average(Sub(pos, all), weight)
	lo, hi := c.bounds(pos, neg, hit, weight)
	lo, hi = StopGradient(lo), StopGradient(hi)
	return consistency{
		lo: c.running(sc, "gamma_lo", lo, weight), hi: c.running(sc, "gamma_hi", hi, weight), loss: Neg(hit), hit: hit,
	}
}

// running moves sc/name, the running mean of γ, towards that of a minibatch and returns it. It does not move if all
// rows have weight [B] 0; with neg_filter, γ is then 0.
func (c Config) running(sc *model.Scope, name string, gamma, weight *Node) *Node {
	mean := nn.Frozen(sc, gamma, name, nn.AllZero)
	last := mean.NodeValue(gamma)
	some := GreaterThan(ReduceAllSum(weight), ScalarZero(weight.Graph(), weight.DType()))
	gamma = Where(some, gamma, last)
	next := Add(nn.Times(last, "cermic/gamma_ema", c.ConsistencyDecay),
		nn.Times(gamma, "cermic/gamma_ema/rest", 1-c.ConsistencyDecay))
	mean.SetNodeValue(StopGradient(next))
	if c.NegFilter {
		return Where(some, next, ZerosLike(next))
	}
	return next
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

// bounds returns γ_lo and γ_hi of the minibatch.
func (c Config) bounds(pos, neg, hit, weight *Node) (lo, hi *Node) {
	k := float64(neg.Shape().Dimensions[1])
	switch c.MIBounds {
	case BoundsAppendix:
		lo = AddScalar(nn.Average(Sub(pos, Log(ReduceSum(Exp(neg), -1))), weight), math.Log(k))
		hi = nn.Average(Sub(OneMinus(pos), Log(ReduceSum(Exp(OneMinus(neg)), -1))), weight)
		return lo, AddScalar(Neg(hi), math.Log(k))
	case BoundsPrinted:
		all := Log(Add(Exp(OneMinus(pos)), ReduceSum(Exp(OneMinus(neg)), -1)))
		return Neg(hit), Neg(nn.Average(Sub(OneMinus(pos), all), weight))
	}
	lo = ClipScalar(AddScalar(hit, math.Log(k+1)), 0, 1)
	return lo, Max(lo, ClipScalar(nn.Average(Sub(pos, ReduceMean(neg, -1)), weight), 0, 1))
}

// The form of h (calib_form). M is an MLP with one hidden layer, m the normalised μ_Ψ, q the normalised √Σ_Ψ.
//
// Reading: the paper gives no architecture for h(γf, μ_Ψ). An unbounded h can satisfy both exploitation losses by
// itself and so switch the constraint off. The bounded one stays within κ·√Σ_Ψ of μ_Ψ, and is μ_Ψ at γ = 0 (D8).
const (
	CalibBounded = "bounded" // m + κ·q·t, t = tanh(M(γf, m) - M(0, m)), or t - its mean
	CalibPlain   = "plain"   // M(γf, m)
)

// calibHidden is the width of M's hidden layer.
const calibHidden = 128

// calibration returns h as a function of the scalar γ for context [B,F], m [B] and q [B]. weight [B] is 1 for rows that
// count and 0 for padding.
//
// paper:h  μ_Ψ(f_n|γ) = h(γ·f_n, μ_Ψ)
//
// Reading: L_UB always pushes h down, while L_LB is rarely active. So h relaxes L_UB as far as its form allows, in any
// context: β = 3.22 becomes 2.22, and peers calibrate nothing. With calib_centre the mean correction over the minibatch
// is subtracted, gradients included. Tolerance can then only be moved from one situation to another (D25).
func (c Config) calibration(sc *model.Scope, context, m, q, weight *Node) func(gamma *Node) *Node {
	sc = sc.At("calibration")
	width := context.Shape().Dimensions[1]
	// γ is one number for the minibatch, so W·(γf) = γ·(W·f): one product serves every value of γ.
	fromContext := Dot(context, nn.Weight(sc, context, "context", nn.FanIn(width+1), width, calibHidden)).Product()
	fromMean := Mul(InsertAxes(m, -1), ExpandLeftToRank(nn.Weight(sc, m, "mean", nn.FanIn(width+1), calibHidden), 2))
	bias := nn.Weight(sc, m, "bias", nn.FanIn(width+1), calibHidden)
	atZero := Add(fromMean, ExpandLeftToRank(bias, 2))
	// The last layer starts at zero, so that the bounded form initially returns μ_Ψ.
	out := nn.Weight(sc, m, "out", nn.AllZero, calibHidden)
	head := func(hidden *Node) *Node { // M after its first layer, [B]
		y := ReduceSum(Mul(nn.LeakyReLU(hidden), ExpandLeftToRank(out, 2)), -1)
		if c.CalibForm == CalibPlain { // in M(γf, m) - M(0, m) an offset would cancel
			y = Add(y, nn.Weight(sc, m, "offset", nn.AllZero))
		}
		return y
	}
	centred := func(x *Node) *Node {
		if c.CalibCentre {
			return Sub(x, nn.Average(x, weight))
		}
		return x
	}
	return func(gamma *Node) *Node {
		y := head(Add(Mul(fromContext, gamma), atZero))
		switch {
		case c.CalibForm == CalibBounded:
			correction := centred(Tanh(Sub(y, head(atZero))))
			return Add(m, Mul(nn.Times(q, "cermic/calib_kappa", c.CalibKappa), correction))
		case c.CalibCentre:
			return Add(m, centred(Sub(y, m)))
		}
		return y
	}
}
