// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// The form of h (calib_form). M is an MLP with one hidden layer, m the normalised μ_Ψ, q the normalised √Σ_Ψ.
//
// Reading: h(γf, μ_Ψ) has no architecture in the paper. A free one can satisfy both exploitation losses by itself and switch
// the constraint off; the bounded one stays within κ·√Σ_Ψ of μ_Ψ, and with γ = 0 leaves it as it is (D8).
const (
	CalibBounded  = "bounded"  // m + κ·q·t, t = tanh(M(γf, m) - M(0, m)), or t - its mean
	CalibAnchored = "anchored" // m + M(γf, m) - M(0, m)
	CalibResidual = "residual" // m + M(γf, m)
	CalibPlain    = "plain"    // M(γf, m)
)

// calibHidden is the width of M's hidden layer.
const calibHidden = 128

// calibration returns h as a function of γ, a scalar node, for the agent steps of context [B,F], m and q [B]; weight [B] is 1 for
// those that count.
//
// paper:h  μ_Ψ(f_n|γ) = h(γ·f_n, μ_Ψ)
//
// Reading: L_UB always pushes h down while L_LB is silent, so that h relaxes the one constraint that is felt everywhere, by all that
// its form allows, whatever the context is: β = 3.22 becomes 2.22, and peers calibrate nothing. With calib_centre the mean correction
// over the minibatch is subtracted, gradients included: tolerance can only be taken from one situation for another (D25).
func (c Config) calibration(sc *model.Scope, context, m, q, weight *Node) func(gamma *Node) *Node {
	sc = sc.At("calibration")
	width := context.Shape().Dimensions[1]
	// γ is one number for the minibatch, so W·(γf) = γ·(W·f): the product is taken once for every value of γ.
	fromContext := Dot(context, nn.Weight(sc, context, "context", nn.FanIn(width+1), width, calibHidden)).Product()
	fromMean := Mul(InsertAxes(m, -1), ExpandLeftToRank(nn.Weight(sc, m, "mean", nn.FanIn(width+1), calibHidden), 2))
	bias := nn.Weight(sc, m, "bias", nn.FanIn(width+1), calibHidden)
	still := Add(fromMean, ExpandLeftToRank(bias, 2))
	// The last layer starts at zero: at first every form but plain leaves μ_Ψ as it is.
	out := nn.Weight(sc, m, "out", nn.AllZero, calibHidden)
	free := c.CalibForm == CalibPlain || c.CalibForm == CalibResidual
	head := func(hidden *Node) *Node { // M after its first layer, [B]
		y := ReduceSum(Mul(nn.LeakyReLU(hidden), ExpandLeftToRank(out, 2)), -1)
		if free { // in M(γf, m) - M(0, m) an offset would cancel
			y = Add(y, nn.Weight(sc, m, "offset", nn.AllZero))
		}
		return y
	}
	centred := func(x *Node) *Node {
		if c.CalibCentre {
			return Sub(x, average(x, weight))
		}
		return x
	}
	return func(gamma *Node) *Node {
		correction := head(Add(Mul(fromContext, gamma), still))
		switch c.CalibForm {
		case CalibPlain:
			if !c.CalibCentre {
				return correction
			}
			correction = Sub(correction, m)
		case CalibAnchored:
			correction = Sub(correction, head(still))
		case CalibBounded:
			correction = centred(Tanh(Sub(correction, head(still))))
			return Add(m, Mul(nn.Times(q, "cermic/calib_kappa", c.CalibKappa), correction))
		}
		return Add(m, centred(correction))
	}
}
