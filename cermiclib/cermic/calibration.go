// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// The form of h (calib_form). M is an MLP with one hidden layer, m the normalised μ_Ψ, q the normalised √Σ_Ψ.
//
// Reading: the paper gives no architecture for h(γf, μ_Ψ). An unbounded h can satisfy both exploitation losses by
// itself and so switch the constraint off. The bounded one stays within κ·√Σ_Ψ of μ_Ψ, and is μ_Ψ at γ = 0 (D8).
const (
	CalibBounded  = "bounded"  // m + κ·q·t, t = tanh(M(γf, m) - M(0, m)), or t - its mean
	CalibAnchored = "anchored" // m + M(γf, m) - M(0, m)
	CalibResidual = "residual" // m + M(γf, m)
	CalibPlain    = "plain"    // M(γf, m)
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
	// The last layer starts at zero, so that initially every form but plain returns μ_Ψ.
	out := nn.Weight(sc, m, "out", nn.AllZero, calibHidden)
	hasOffset := c.CalibForm == CalibPlain || c.CalibForm == CalibResidual
	head := func(hidden *Node) *Node { // M after its first layer, [B]
		y := ReduceSum(Mul(nn.LeakyReLU(hidden), ExpandLeftToRank(out, 2)), -1)
		if hasOffset { // in M(γf, m) - M(0, m) an offset would cancel
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
		correction := head(Add(Mul(fromContext, gamma), atZero))
		switch c.CalibForm {
		case CalibPlain:
			if !c.CalibCentre {
				return correction
			}
			correction = Sub(correction, m)
		case CalibAnchored:
			correction = Sub(correction, head(atZero))
		case CalibBounded:
			correction = centred(Tanh(Sub(correction, head(atZero))))
			return Add(m, Mul(nn.Times(q, "cermic/calib_kappa", c.CalibKappa), correction))
		}
		return Add(m, centred(correction))
	}
}
