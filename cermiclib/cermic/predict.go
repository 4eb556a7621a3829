// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// Reduction of the log-likelihood of s_{t+1} over components (explore_reduce).
//
// Reading: a mean keeps L_explore on the scale of the exploitation losses. A sum over 64 components would outweigh them
// 10 to 100 times at α = 0.2 (D4).
const (
	OverMean = "mean"
	OverSum  = "sum"
)

// predictHidden is the width of φ and ψ if phi_hidden is 0, that of Dynamic Bottleneck's transition and generative
// networks.
const predictHidden = 256

// phi is the width H of φ and ψ.
func (c Config) phi() int {
	if c.Hidden > 0 {
		return c.Hidden
	}
	return predictHidden
}

// latent maps s_t [B,S] and the action [B,A] to the mean and log σ of x_t, both [B,X].
//
// paper:g_phi  x_t ~ g_φ(s_t, a_t) = N(μ, diag σ²)
//
// Reading: a clamp bounds σ from below. Without it, KL grows without bound while a deterministic dimension adds at most
// ½ to Σ_Ψ, too little for the variance term to restrain it (D3).
func (c Config) latent(sc *model.Scope, s, act *Node) (mean, logScale *Node) {
	out := Split(nn.Linear(sc.At("transition").At("out"), withAction(c.hidden(sc, s, act), act), 2*c.Latent), -1, 2)
	// Constants, since graph inputs would change rounding.
	return out[0], ClipScalar(out[1], c.LogScaleMin, c.LogScaleMax)
}

// hidden is φ's last hidden layer [B,H].
func (c Config) hidden(sc *model.Scope, s, act *Node) *Node {
	sc = sc.At("transition")
	x := nn.LeakyReLU(nn.Linear(sc.At("in"), withAction(s, act), c.phi()))
	for i := range 2 {
		block := sc.At("block_%d", i)
		y := nn.LeakyReLU(nn.Linear(block.At("first"), withAction(x, act), c.phi()))
		x = Add(x, nn.Linear(block.At("second"), withAction(y, act), c.phi()))
	}
	return x
}

func withAction(x, act *Node) *Node { return Concatenate([]*Node{x, act}, -1) }

// decode maps x_t [B,X] to the mean ŝ_{t+1} [B,S] of p_ψ.
//
// paper:p_psi  p_ψ(s_{t+1}|x_t) = N(ŝ_{t+1}, σ_ψ²·I)
//
// Reading: the figure calls this decoder ψ; the text calls it p_φ and an encoder. spread.go has σ_ψ (D4).
func (c Config) decode(sc *model.Scope, x *Node) *Node {
	sc = sc.At("decoder")
	y := nn.LeakyReLU(nn.Linear(sc.At("in"), x, c.phi()))
	for i := range 2 {
		block := sc.At("block_%d", i)
		y = Add(y, nn.Linear(block.At("second"), nn.LeakyReLU(nn.Linear(block.At("first"), y, c.phi())), c.phi()))
	}
	return nn.Linear(sc.At("out"), y, c.Embed)
}

// logLikelihood is log p_ψ(s_{t+1}|x_t) [B] for next [B,S].
//
// paper:L_explore  L_explore = E log p_ψ(s_{t+1}|x_t)
func (c Config) logLikelihood(next, mean, logSpread *Node) *Node {
	z := Mul(Sub(next, mean), Exp(Neg(logSpread)))
	each := Neg(AddScalar(Add(MulScalar(Square(z), 0.5), logSpread), 0.5*math.Log(2*math.Pi)))
	if c.ExploreReduce == OverSum {
		return ReduceSum(each, -1)
	}
	return ReduceMean(each, -1)
}

// contrast is the log-probability [B] that each prediction [B,S] selects its own s_{t+1} among the next [B,S] of the
// minibatch.
//
// Deviation: the paper's L_explore has no such term. Dynamic Bottleneck's has one, against collapsing embeddings;
// explore_nce = 0 removes it (D4).
func (c Config) contrast(sc *model.Scope, predicted, next, weight *Node) *Node {
	w := nn.Weight(sc.At("contrast"), predicted, "weights", nn.FanIn(c.Embed), c.Embed, c.Embed)
	scores := Dot(Dot(predicted, w).Product(), Transpose(next, 0, 1)).Product() // [B,B]
	scores = Add(scores, ExpandLeftToRank(MulScalar(MinusOne(weight), 1e9), 2)) // padding is no candidate
	b := scores.Shape().Dimensions[0]
	return ReduceSum(Mul(LogSoftmax(scores, -1), DiagonalWithValue(ScalarOne(scores.Graph(), scores.DType()), b)), -1)
}
