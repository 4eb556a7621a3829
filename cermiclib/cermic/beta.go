// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"fmt"
	"math"
)

// Beta is the multiplier of √Σ_Ψ that turns the distributionally robust chance constraint into a cone.
//
// paper:beta  β = √γ₁ + √((1-ε)(γ₂-γ₁)/ε) if γ₁/γ₂ ≤ ε, else √(γ₂/ε)
//
// Both branches are γ₂/√γ₁ at ε = γ₁/γ₂.
//
// Reading: the appendix calls it l_n, the main text β (D6).
func Beta(chance, meanRadius, spreadRadius float64) float64 {
	if meanRadius/spreadRadius <= chance {
		return math.Sqrt(meanRadius) + math.Sqrt((1-chance)/chance*(spreadRadius-meanRadius))
	}
	return math.Sqrt(spreadRadius / chance)
}

func (c Config) beta() float64 { return Beta(c.Chance, c.MeanRadius, c.SpreadRadius) }

// lowerLevel is the lower level of Ψ in L_LB.
//
// Reading: P(Ψ ≥ c̲) ≥ 1-ε leads to ReLU(c̲ - μ + β√Σ). The paper prints ReLU(-μ + β√Σ - c̲), which belongs to Ψ ≥ -c̲.
// lb_sign selects one; with c̲ = 0 they coincide (D2).
func (c Config) lowerLevel() float64 {
	if c.LowerSign == SignPrinted {
		return -c.Lower
	}
	return c.Lower
}

// Band is the range of KL in which both exploitation losses vanish without a correction by h. From and To are in the
// units of the levels, NatsFrom and NatsTo in nats of KL(p‖q). It assumes codes with σ = 1, where Σ_Ψ = 2·KL: KL/n ±
// β·√(2·KL)/n = level, with n = d_x under psi_norm=per_dim and 1 under none. An empty band has From > To. A lower level
// between -β²/(2n) and 0 is also met near KL = 0. Band is then the part above, unless L_UB forbids all of it.
type Band struct{ From, To, NatsFrom, NatsTo float64 }

// Band computes the feasible band of these settings. Under psi_norm=running the levels have no absolute meaning, and
// the band is unbounded.
//
// Reading: levels of a normalised Ψ need a check that some code can meet them (D7).
func (c Config) Band() Band {
	scale := float64(c.Latent)
	switch c.PsiNorm {
	case PsiRunning:
		return Band{0, math.Inf(1), 0, math.Inf(1)}
	case PsiNone:
		scale = 1
	}
	// With u = √m, m = KL/n: upper u² + b·u ≤ c̄, lower u² - b·u ≥ c̲, b = β·√(2/n).
	b := c.beta() * math.Sqrt(2/scale)
	upper, lower := c.Upper, c.lowerLevel()
	to := -1.0 // no KL is small enough
	if upper >= 0 {
		to = math.Pow((math.Sqrt(b*b+4*upper)-b)/2, 2)
	}
	from := 0.0 // a level below -b²/4 is met by every KL
	if root := b*b + 4*lower; root >= 0 {
		from = math.Pow((math.Sqrt(root)+b)/2, 2)
		if lower < 0 && from > to { // only codes with almost no information meet both levels
			from, to = 0, min(to, math.Pow((b-math.Sqrt(root))/2, 2))
		}
	}
	return Band{from, to, from * scale, to * scale}
}

func (c Config) validateLevels() error {
	if c.SpreadRadius <= max(c.MeanRadius, 1) {
		return fmt.Errorf("amb_gamma2 is %g, want more than 1 and than amb_gamma1 = %g", c.SpreadRadius, c.MeanRadius)
	}
	if band := c.Band(); c.Exploit && band.From > band.To {
		larger := "d_x or eps"
		if c.PsiNorm == PsiNone {
			larger = "or eps" // d_x does not matter
		}
		return fmt.Errorf("no code can satisfy both exploitation losses: with beta = %.3f and d_x = %d, "+
			"L_LB wants KL above %.1f nats and L_UB below %.1f; raise c_bar - c_low = %g, %s",
			c.beta(), c.Latent, band.NatsFrom, max(band.NatsTo, 0), c.Upper-c.lowerLevel(), larger)
	}
	return nil
}
