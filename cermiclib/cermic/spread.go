// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// What σ_ψ, the spread of the decoder's p_ψ, is (psi_spread).
//
// Reading: the paper names no spread. For one number that all components share, the likeliest is known in closed form: the root of
// the mean squared error. A learned one moves by at most one step size for each step of Adam, exp(-1e-4·steps) in all: it never got
// there in 600,000 frames, and L_explore, whose gradient goes with 1/σ_ψ², stayed some twenty times too weak, with it the scale of α (D26).
const (
	SpreadOptimal = "optimal" // σ_ψ² is a running mean of the squared error, over agent steps and components
	SpreadLearned = "learned" // log σ_ψ is a weight, which starts at 0
	SpreadUnit    = "unit"    // σ_ψ = 1: L_explore is the squared error
)

// Clamp of the learned log-spread of p_ψ.
var logSpreadMin, logSpreadMax = math.Log(0.1), 2.0

// The running mean of the squared error: its decay over gradient steps, and the least that it counts as.
const (
	errorDecay = 0.99
	errorFloor = 1e-3
)

// logSpread is log σ_ψ, a scalar, as it stands; 0 before the first gradient step. like gives graph and dtype.
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
	s = Where(known, Div(s, Where(known, w, OnesLike(w))), OnesLike(s)) // without the bias towards its start, as Adam's moments
	return MulScalar(Log(MaxScalar(s, errorFloor)), 0.5)
}

// errorMean are the running mean of the squared error, which starts at 0, and the weight that measured errors have in it.
func errorMean(sc *model.Scope, like *Node) (square, share *model.Variable) {
	return nn.Frozen(sc, like, "square_error", nn.AllZero), nn.Frozen(sc, like, "square_error_share", nn.AllZero)
}

// followError moves σ_ψ, where it is optimal, towards square, the mean squared error of a minibatch; no gradient passes.
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
