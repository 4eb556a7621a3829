// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"

	"cermic/envs/rng"
)

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
	t := Tails{Law: law.name, Lambda: lambda, Bound: make([]float64, len(lambda)),
		Lower: make([]float64, len(lambda)), Printed: make([]float64, len(lambda))}
	r := rng.New(seed, "theory/cantelli/"+law.name)
	for range draws {
		x := law.draw(r)
		for i, v := range lambda {
			if x <= -v {
				t.Lower[i]++
			}
			if x >= -v {
				t.Printed[i]++
			}
		}
	}
	for i, v := range lambda {
		t.Bound[i] = cantelliTail(1, v)
		t.Lower[i] /= float64(draws)
		t.Printed[i] /= float64(draws)
	}
	return t
}
