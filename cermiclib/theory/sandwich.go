// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"cermic/envs/rng"
)

// slack is the relative rounding error allowed before a bound counts as violated: a few hundred times the spacing of
// float64. Near Root, where the ratio falls by about 0.1 per unit of x, it blurs the edge by 10⁻¹².
const slack = 1e-13

// informationGain is the entropy, in nats, that one observation at (s,a) takes from the posterior of the linear model.
// x is ηᵀΛ⁻¹η ≥ 0, and c is the dimension of the predicted next state.
//
// paper:Theorem1  H(ω|D) − H(ω|D ∪ (s,a,S')) = (c/2)·log(1 + x)
func informationGain(x float64, c int) float64 { return float64(c) / 2 * math.Log1p(x) }

// intrinsicReward is r^i, the square root of the information gain.
//
// paper:Theorem1  r^i = √((c/2)·log(1 + x))
func intrinsicReward(x float64, c int) float64 { return math.Sqrt(informationGain(x, c)) }

// ucbBonus is the exploration bonus of LSVI-UCB.
//
// paper:Theorem1  r^ucb = ζ·√x
func ucbBonus(x, zeta float64) float64 { return zeta * math.Sqrt(x) }

// rho is the factor of Theorem 1. The theorem says "for any ρ > 0", but ρ is fixed by c and ζ; a wanted value is
// reached only by choosing ζ.
//
// paper:Theorem1  ρ = √(c/4) / ζ
func rho(c int, zeta float64) float64 { return math.Sqrt(float64(c)/4) / zeta }

// Ratio is r^i/(ρ·r^ucb), which depends on x alone; its limit √2 at x = 0 is returned there. Theorem 1 claims
// 1 ≤ Ratio ≤ √2. The upper half always holds, the lower one only up to [Root].
//
// paper:Theorem1  r^i / (ρ·r^ucb) = √(2·log(1 + x)/x)
func Ratio(x float64) float64 {
	if x == 0 {
		return math.Sqrt2
	}
	return math.Sqrt(2 * math.Log1p(x) / x)
}

// Violates reports whether Theorem 1's sandwich fails at x.
func Violates(x float64) bool {
	ratio := Ratio(x)
	return ratio < 1-slack || ratio > math.Sqrt2*(1+slack)
}

// Root returns x* = 2.512862…, the positive root of log(1+x) = x/2. Since x ≤ ‖η‖²/λ, Theorem 1 holds everywhere
// when λ ≥ ‖η‖²/x*, a condition the paper does not state. It is found by Newton's method, which converges from the
// right of the root because log(1+x) − x/2 is concave.
//
// paper:Theorem1  x/2 ≤ log(1 + x) only for 0 ≤ x ≤ x*
func Root() float64 {
	x := 4.0
	for range 8 {
		x -= (math.Log1p(x) - x/2) / (1/(1+x) - 0.5)
	}
	return x
}

// safeLambda returns the least regularisation λ under which Theorem 1 holds for features of length at most norm.
func safeLambda(norm float64) float64 { return norm * norm / Root() }

// realisedSurprise is KL(posterior ‖ prior) of the linear model after one particular next state. residual [c] is the
// difference of that state from the prediction. The definition of r^i uses this number. Theorem 1 is about its mean
// under the predictive law, the information gain, and only the mean obeys the sandwich.
//
// paper:Theorem1  KL = ½·[ c·(log(1+x) − x/(1+x)) + ‖s' − Wη‖²·x/(1+x)² ]
func realisedSurprise(x float64, residual []float64) float64 {
	return (float64(len(residual))*(math.Log1p(x)-x/(1+x)) + floats.Dot(residual, residual)*x/((1+x)*(1+x))) / 2
}

// surpriseBand returns the band of Theorem 1 for the square of r^i: c·x/4 to c·x/2 nats.
//
// paper:Theorem1  (c/4)·x ≤ (r^i)² ≤ (c/2)·x
func surpriseBand(x float64, c int) (low, high float64) {
	return float64(c) / 4 * x, float64(c) / 2 * x
}

// outsideBand is the exact probability that the realised surprise leaves [surpriseBand] when the model is right. Under
// the predictive law N(Wη, (1+x)·I) the squared residual is (1+x) times a χ² variable with c degrees of freedom.
// It requires x > 0: at zero nothing can be learned and the band is a point.
func outsideBand(x float64, c int) float64 {
	low, high := surpriseBand(x, c)
	chi := distuv.ChiSquared{K: float64(c)}
	level := func(kl float64) float64 { return (2*kl - float64(c)*(math.Log1p(x)-x/(1+x))) * (1 + x) / x }
	return chi.CDF(max(level(low), 0)) + chi.Survival(max(level(high), 0))
}

// outsideShare is the share of realised surprises outside [surpriseBand].
func outsideShare(surprises []float64, x float64, c int) float64 {
	low, high := surpriseBand(x, c)
	return share(surprises, func(kl float64) bool { return kl < low || kl > high })
}

// sampleSurprise draws next states from the predictive law and returns their realised surprises.
func sampleSurprise(x float64, c, draws int, seed uint64) []float64 {
	r := rng.New(seed, "theory/surprise", uint64(c), math.Float64bits(x))
	surprises, residual := make([]float64, draws), make([]float64, c)
	for k := range surprises {
		for i := range residual {
			residual[i] = math.Sqrt(1+x) * float64(r.Norm())
		}
		surprises[k] = realisedSurprise(x, residual)
	}
	return surprises
}

// share is the part of values for which is holds.
func share(values []float64, is func(float64) bool) float64 {
	return float64(floats.Count(is, values)) / float64(len(values))
}
