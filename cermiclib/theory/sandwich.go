// SPDX-License-Identifier: Apache-2.0

package theory

import "math"

// slack is the relative rounding error allowed before a bound counts as violated: a few hundred times the spacing of
// float64. Near Root, where the ratio falls by about 0.1 per unit of x, it blurs the edge by 10⁻¹².
const slack = 1e-13

// informationGain is the entropy that one observation at (s,a) takes from the posterior of the linear model, in nats,
// with x = ηᵀΛ⁻¹η ≥ 0 and c the dimension of the predicted next state.
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
