// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// Estimate of σ_ψ, the standard deviation of the decoder p_ψ (psi_spread).
//
// Reading: the paper gives no standard deviation. For one number shared by all components the maximum-likelihood value
// has a closed form, the root of the mean squared error. A learned one moves by at most one step size per Adam step, a
// factor exp(-1e-4·steps) in all: it did not converge within 600,000 frames. L_explore's gradient scales with 1/σ_ψ²,
// so it stayed about twenty times too weak, which also changes the meaning of α (D26).
const (
	SpreadOptimal = "optimal" // σ_ψ² is a running mean of the squared error, over agent steps and components
	SpreadLearned = "learned" // log σ_ψ is a weight, which starts at 0
	SpreadUnit    = "unit"    // σ_ψ = 1: L_explore is the squared error
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
	switch c.PsiSpread {
	case SpreadLearned:
		return ClipScalar(nn.Weight(sc, like, "log_spread", nn.AllZero), logSpreadMin, logSpreadMax)
	case SpreadUnit:
		return ScalarZero(like.Graph(), like.DType())
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
