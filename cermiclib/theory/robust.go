// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"

	"cermic/envs/rng"
)

// Ambiguity is the calibrated set of laws of Ψ. With s̃ = (Ψ − μ_Ψ(f))/√Σ_Ψ, it has all laws with |E s̃| ≤ √γ1 and
// E s̃² ≤ γ2. The domain is γ1 > 0 and γ2 > max(γ1, 1); all numbers here have Σ_Ψ = 1.
type Ambiguity struct{ Gamma1, Gamma2 float64 }

// DefaultAmbiguity returns γ1 = 0.05, γ2 = 1.05, the size that the data-driven radii of Delage and Ye have at some 2
// 400 samples. The paper gives no numbers.
func DefaultAmbiguity() Ambiguity { return Ambiguity{Gamma1: 0.05, Gamma2: 1.05} }

// Multiplier is β for ε in (0, 1): the number of standard deviations that the constraint P(Ψ ≤ c̄) ≥ 1 − ε costs in the
// worst case. The two cases meet at ε = γ1/γ2, with value γ2/√γ1. The appendix calls it l_n.
//
// paper:Cantelli  β = √γ1 + √((1−ε)/ε·(γ2−γ1)) if γ1/γ2 ≤ ε, else √(γ2/ε)
func (a Ambiguity) Multiplier(epsilon float64) float64 {
	if a.Gamma1/a.Gamma2 <= epsilon {
		return math.Sqrt(a.Gamma1) + math.Sqrt((1-epsilon)/epsilon*(a.Gamma2-a.Gamma1))
	}
	return math.Sqrt(a.Gamma2 / epsilon)
}

// worstCase is the least probability of s̃ ≤ b over the set. Below √γ1 it is zero, which the paper calls infeasible.
//
// paper:Cantelli  inf P(s̃ ≤ b) = 1/(1 + (γ2−γ1)/(b−√γ1)²) for √γ1 ≤ b ≤ γ2/√γ1, else 1 − γ2/b²
func (a Ambiguity) worstCase(b float64) float64 {
	root := math.Sqrt(a.Gamma1)
	switch {
	case b <= root:
		return 0
	case b <= a.Gamma2/root:
		return 1 / (1 + (a.Gamma2-a.Gamma1)/((b-root)*(b-root)))
	}
	return 1 - a.Gamma2/(b*b)
}

// search finds the same probability by brute force over means and standard deviations in the set, on a grid of
// points × points. It is slow on purpose: it assumes neither which mean nor which spread is worst.
func (a Ambiguity) search(b float64, points int) float64 {
	worst, root := 1.0, math.Sqrt(a.Gamma1)
	for i := range points {
		mean := root * (2*float64(i)/float64(points-1) - 1)
		widest := math.Sqrt(a.Gamma2 - mean*mean)
		for j := range points {
			worst = min(worst, leastMass(mean, widest*float64(j+1)/float64(points), b))
		}
	}
	return worst
}

// cantelliTail bounds the lower tail of every law with standard deviation std, for λ > 0. The appendix prints "≥ −λ"
// inside the probability, which is false: a standard Gaussian exceeds −1 with probability 0.84, and 0.84 > 1/2.
//
// paper:Cantelli  P(X − EX ≤ −λ) ≤ σ²/(σ² + λ²)
func cantelliTail(std, lambda float64) float64 { return std * std / (std*std + lambda*lambda) }

// leastMass is the infimum of P(X ≤ b) over all laws with the given mean and standard deviation, the inner problem of
// the appendix. A law on two values comes arbitrarily near it.
//
// paper:Cantelli  inf P(X ≤ b) = (b−μ)²/(σ² + (b−μ)²) if b ≥ μ, else 0
func leastMass(mean, std, b float64) float64 {
	if b < mean {
		return 0
	}
	return 1 - cantelliTail(std, b-mean)
}

// law draws from a distribution with mean 0 and standard deviation 1.
type law struct {
	name string
	draw func(r *rng.Rand) float64
}

// Laws returns four standardised laws: symmetric, bounded, and skewed to either side.
func Laws() []law {
	exponential := func(r *rng.Rand) float64 { return -math.Log(1-r.Float64()) - 1 }
	return []law{
		{"normal", func(r *rng.Rand) float64 { return float64(r.Norm()) }},
		{"uniform", func(r *rng.Rand) float64 { return math.Sqrt(12) * (r.Float64() - 0.5) }},
		{"exponential", exponential},
		{"reflected exponential", func(r *rng.Rand) float64 { return -exponential(r) }},
	}
}

// Tails holds the fraction of draws in the lower tail of a law, and in the event that the appendix prints.
type Tails struct {
	Law            string
	Lambda         []float64 // [L]
	Bound          []float64 // 1/(1+λ²) [L]
	Lower, Printed []float64 // P(X ≤ −λ), P(X ≥ −λ) [L]
}

// SampleTails estimates both events for every λ with one set of draws.
func SampleTails(law law, lambda []float64, draws int, seed uint64) Tails {
	r := rng.New(seed, "theory/cantelli/"+law.name)
	drawn := make([]float64, draws)
	for k := range drawn {
		drawn[k] = law.draw(r)
	}
	return Tails{
		Law: law.name, Lambda: lambda,
		Bound:   each(lambda, func(v float64) float64 { return cantelliTail(1, v) }),
		Lower:   each(lambda, func(v float64) float64 { return share(drawn, func(x float64) bool { return x <= -v }) }),
		Printed: each(lambda, func(v float64) float64 { return share(drawn, func(x float64) bool { return x >= -v }) }),
	}
}
