// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// Normalisation of Ψ before comparison with the levels c̄ and c̲ (psi_norm).
//
// Reading: "after normalizing Ψ_t" (Section 4.2) is not explained. Nats per dimension are absolute and stationary. With
// running statistics the levels follow the code, which then collapses (D5).
const (
	PsiPerDim  = "per_dim" // divided by d_x
	PsiRunning = "running" // (Ψ - running mean) / running standard deviation
	PsiNone    = "none"    // nats
)

// psiTiny keeps √Σ_Ψ differentiable at Σ_Ψ = 0.
const psiTiny = 1e-8

// PsiMoments returns the mean and the variance of Ψ = log p(x) - log q(x) for x ~ p = N(mean, diag σ²), q = N(0, I).
// The mean is KL(p‖q). Both are closed forms, so the paper's "numerically computed" needs no sampling.
//
// paper:Eq5  μ_Ψ = ½ Σ (μ² + σ² - 1 - log σ²)   Σ_Ψ = Σ (½ (σ² - 1)² + μ²σ²)
func PsiMoments(mean, logScale []float64) (mu, variance float64) {
	for d, m := range mean {
		v := math.Exp(2 * logScale[d])
		mu += 0.5 * (m*m + v - 1 - 2*logScale[d])
		variance += 0.5*(v-1)*(v-1) + m*m*v
	}
	return mu, variance
}

// psiMoments is PsiMoments for a minibatch of codes, mean and logScale [B,X]; both results [B].
func psiMoments(mean, logScale *Node) (mu, variance *Node) {
	v := Exp(MulScalar(logScale, 2))
	square := Square(mean)
	mu = MulScalar(ReduceSum(Sub(Add(square, MinusOne(v)), MulScalar(logScale, 2)), -1), 0.5)
	variance = ReduceSum(Add(MulScalar(Square(MinusOne(v)), 0.5), Mul(square, v)), -1)
	return mu, variance
}

// normalisePsi scales μ_Ψ [B] and √Σ_Ψ [B] to the units of the levels: m and q.
func (c Config) normalisePsi(sc *model.Scope, mu, variance, weight *Node) (m, q *Node) {
	q = Sqrt(AddScalar(variance, psiTiny))
	switch c.PsiNorm {
	case PsiPerDim:
		return DivScalar(mu, float64(c.Latent)), DivScalar(q, float64(c.Latent))
	case PsiRunning:
		mean := average(mu, weight)
		spread := average(Add(variance, Square(Sub(mu, mean))), weight) // law of total variance
		mean = c.running(sc, "psi_mean", StopGradient(mean), nn.AllZero)
		spread = Sqrt(AddScalar(c.running(sc, "psi_variance", StopGradient(spread), nn.Constant(1)), psiTiny))
		return Div(Sub(mu, mean), spread), Div(q, spread)
	}
	return mu, q
}

// running moves the running mean sc/name, a scalar that starts at init, towards value and returns it.
func (c Config) running(sc *model.Scope, name string, value *Node, init nn.Init) *Node {
	v := nn.Frozen(sc, value, name, init)
	next := Add(nn.Times(v.NodeValue(value), "cermic/gamma_ema", c.ConsistencyDecay),
		nn.Times(value, "cermic/gamma_ema/rest", 1-c.ConsistencyDecay))
	v.SetNodeValue(StopGradient(next))
	return next
}

// runningOver is running for a mean over the rows of weight [B]; if all weights are 0, the running mean does not move.
func (c Config) runningOver(sc *model.Scope, name string, value, weight *Node, init nn.Init) *Node {
	last := nn.Frozen(sc, value, name, init).NodeValue(value)
	some := GreaterThan(ReduceAllSum(weight), ScalarZero(weight.Graph(), weight.DType()))
	return c.running(sc, name, Where(some, value, last), init)
}

// average is the mean of x [B] over the rows whose weight [B] is 1, and 0 if there are none.
func average(x, weight *Node) *Node {
	return Div(ReduceAllSum(Mul(x, weight)), MaxScalar(ReduceAllSum(weight), 1.0))
}
