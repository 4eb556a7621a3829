// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"cmp"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs"
)

// Scopes of the encoder θ and of its momentum copy θᵐ within the module's scope.
const (
	encoderScope  = "encoder"
	momentumScope = "momentum"
)

// embed maps o_t [B,I] to s_t = θ(o_t) [B,S], with mean 0 and variance 1 over components.
//
// paper:encoder  s_t = θ(o_t), s_{t+1} = θᵐ(o_{t+1}); θᵐ has θ's structure and is a momentum average of it
//
// Reading: θ belongs to the module. Actor and critic neither share nor train it, which keeps the module a plug-in
// (D22).
func (c Config) embed(sc *model.Scope, spec *envs.Spec, obs *Node) *Node {
	return nn.Encode(sc.At(encoderScope), spec, obs, c.Embed)
}

// embedNext maps o_{t+1} [B,I] to s_{t+1} = θᵐ(o_{t+1}) [B,S] without a gradient. embed must have created θ before.
func (c Config) embedNext(sc *model.Scope, spec *envs.Spec, next *Node) *Node {
	s := nn.Encode(sc.At(momentumScope), spec, next, c.Embed)
	nn.TargetCopy(sc.At(encoderScope), sc.At(momentumScope))
	return StopGradient(s)
}

// predictHidden is the width of φ and ψ if phi_hidden is 0, that of Dynamic Bottleneck's transition and generative
// networks.
const predictHidden = 256

// phi is the width H of φ and ψ.
func (c Config) phi() int { return cmp.Or(c.Hidden, predictHidden) }

// latent maps s_t [B,S] and the action [B,A] to the mean and log σ of x_t, both [B,X].
//
// paper:g_phi  x_t ~ g_φ(s_t, a_t) = N(μ, diag σ²)
//
// Reading: a clamp bounds σ from below. Without it, KL grows without bound while a deterministic dimension adds at most
// ½ to Σ_Ψ. That is too little for the variance term to restrain it (D3).
func (c Config) latent(sc *model.Scope, s, act *Node) (mean, logScale *Node) {
	out := Split(nn.Transition(sc.At("transition"), s, act, c.phi(), 2*c.Latent), -1, 2)
	// Constants, since graph inputs would change rounding.
	return out[0], ClipScalar(out[1], c.LogScaleMin, c.LogScaleMax)
}

// decode maps x_t [B,X] to the mean ŝ_{t+1} [B,S] of p_ψ.
//
// paper:p_psi  p_ψ(s_{t+1}|x_t) = N(ŝ_{t+1}, σ_ψ²·I)
//
// Reading: the figure calls this decoder ψ; the text calls it p_φ and an encoder. SpreadOptimal has σ_ψ (D4).
func (c Config) decode(sc *model.Scope, x *Node) *Node {
	sc = sc.At("decoder")
	y := nn.LeakyReLU(nn.Linear(sc.At("in"), x, c.phi()))
	for i := range 2 {
		y = nn.Residual(sc.At("block_%d", i), y, c.phi())
	}
	return nn.Linear(sc.At("out"), y, c.Embed)
}

// logLikelihood is log p_ψ(s_{t+1}|x_t) [B] for next [B,S], the mean over components.
//
// paper:L_explore  L_explore = E log p_ψ(s_{t+1}|x_t)
//
// Reading: a mean keeps L_explore on the scale of the exploitation losses. A sum over 64 components would outweigh them
// 10 to 100 times at α = 0.2 (D4).
func logLikelihood(next, mean, logSpread *Node) *Node {
	z := Mul(Sub(next, mean), Exp(Neg(logSpread)))
	return ReduceMean(nn.LogNormal(z, logSpread), -1)
}

// contrast is the log-probability [B] that each prediction [B,S] selects its own s_{t+1} among the next [B,S] of the
// minibatch.
//
// Deviation: the paper's L_explore has no such term. Dynamic Bottleneck's has one, against collapsing embeddings;
// explore_nce = 0 removes it (D4).
func (c Config) contrast(sc *model.Scope, predicted, next, weight *Node) *Node {
	w := nn.Weight(sc.At("contrast"), predicted, "weights", nn.FanIn(c.Embed), c.Embed, c.Embed)
	return nn.OwnLogProb(Dot(Dot(predicted, w).Product(), Transpose(next, 0, 1)).Product(), weight)
}

// Estimate of σ_ψ, the standard deviation of the decoder p_ψ (psi_spread).
//
// Reading: the paper gives no standard deviation. For one number shared by all components the maximum-likelihood value
// has a closed form, the root of the mean squared error. A learned one did not converge within 600,000 frames, which
// left L_explore's gradient, in proportion to 1/σ_ψ², about twenty times too weak (D26).
const (
	SpreadOptimal = "optimal" // σ_ψ² is a running mean of the squared error, over agent steps and components
	SpreadLearned = "learned" // log σ_ψ is a weight, which starts at 0
)

// Bounds of the learned log σ_ψ.
var logSpreadMin, logSpreadMax = math.Log(0.1), 2.0

// Running mean of the squared error: its decay per gradient step and its lower bound.
const (
	errorDecay = 0.99
	errorFloor = 1e-3
)

// logSpread is log σ_ψ, a scalar; 0 before the first gradient step. like gives graph and dtype.
func (c Config) logSpread(sc *model.Scope, like *Node) *Node {
	sc = sc.At("decoder")
	if c.PsiSpread == SpreadLearned {
		return ClipScalar(nn.Weight(sc, like, "log_spread", nn.AllZero), logSpreadMin, logSpreadMax)
	}
	square, share := errorMean(sc, like)
	zero := ScalarZero(like.Graph(), like.DType())
	s, w := square.NodeValue(like), share.NodeValue(like)
	known := GreaterThan(w, zero)
	s = Where(known, Div(s, Where(known, w, OnesLike(w))), OnesLike(s)) // bias correction, as for Adam's moments
	return MulScalar(Log(MaxScalar(s, errorFloor)), 0.5)
}

// errorMean returns the running mean of the squared error, which starts at 0, and the total weight of measured errors
// in it.
func errorMean(sc *model.Scope, like *Node) (square, share *model.Variable) {
	return nn.Frozen(sc, like, "square_error", nn.AllZero), nn.Frozen(sc, like, "square_error_share", nn.AllZero)
}

// followError moves an optimal σ_ψ towards square, the mean squared error of a minibatch, without a gradient.
func (c Config) followError(sc *model.Scope, square *Node) {
	if c.PsiSpread != SpreadOptimal {
		return
	}
	mean, share := errorMean(sc.At("decoder"), square)
	move := func(v *model.Variable, value *Node) {
		v.SetNodeValue(Add(MulScalar(v.NodeValue(value), errorDecay), MulScalar(value, 1-errorDecay)))
	}
	move(mean, StopGradient(square))
	move(share, OnesLike(square))
}
