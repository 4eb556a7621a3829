// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"
)

// betaOf is β of a chance constraint.
func betaOf(chance, meanRadius, spreadRadius float64) float64 {
	return Config{Chance: chance, MeanRadius: meanRadius, SpreadRadius: spreadRadius}.beta()
}

func TestBetaFollowsItsTwoCases(t *testing.T) {
	// Values of the specification for γ₁ = 0.05, γ₂ = 1.05, to its three decimals.
	for chance, want := range map[float64]float64{0.05: 4.583, 0.1: 3.224, 0.2: 2.224, 0.3: 1.751} {
		if got := betaOf(chance, 0.05, 1.05); math.Abs(got-want) > 5e-4 {
			t.Errorf("beta at eps = %g is %.4f, want %.3f", chance, got, want)
		}
	}
	if got, want := betaOf(0.01, 0.05, 1.05), math.Sqrt(1.05/0.01); got != want {
		t.Errorf("beta at eps = 0.01, below γ₁/γ₂, is %g, want √(γ₂/ε) = %g", got, want)
	}
}

// worstCase is the smallest P(s ≤ b) by Cantelli over the ambiguity set with Σ_Ψ = 1, found by a grid over means. At
// each mean the largest standard deviation is the worst.
func worstCase(b, meanRadius, spreadRadius float64) float64 {
	worst := 1.0
	const tries = 200_000
	for k := range tries + 1 {
		mean := math.Sqrt(meanRadius) * (2*float64(k)/tries - 1)
		if b < mean {
			return 0
		}
		worst = min(worst, (b-mean)*(b-mean)/(spreadRadius-mean*mean+(b-mean)*(b-mean)))
	}
	return worst
}

func TestBetaMeetsTheChanceConstraintAtItsWorstCase(t *testing.T) {
	for _, chance := range []float64{0.01, 0.05, 0.1, 0.2, 0.5} {
		for _, r := range [][2]float64{{0.05, 1.05}, {0.01, 1.5}, {0.3, 1.2}, {0.9, 2}, {1.5, 3}} {
			// 1e-8: the grid misses the worst mean by up to 10⁻⁵, near which the probability is flat.
			if got := worstCase(betaOf(chance, r[0], r[1]), r[0], r[1]); math.Abs(got-(1-chance)) > 1e-8 {
				t.Errorf("eps %g, γ₁ %g, γ₂ %g: worst probability at b = beta is %.10f, want %g",
					chance, r[0], r[1], got, 1-chance)
			}
		}
	}
}

func TestBandMatchesTheSpecifiedTable(t *testing.T) {
	for _, want := range []struct {
		latent           int
		chance, upper    float64
		from, to         float64 // KL per dimension, to the table's two decimals
		natsFrom, natsTo float64 // one decimal
		empty            bool
	}{
		{32, 0.1, 1, 0, 0, 0, 0, true},
		{32, 0.2, 1, 0.31, 0.58, 9.9, 18.5, false},
		{64, 0.1, 1, 0.32, 0.57, 20.8, 36.5, false},
		{64, 0.1, 0.5, 0, 0, 0, 0, true},
		{64, 0.2, 1, 0.15, 0.68, 9.9, 43.3, false},
		{128, 0.1, 1, 0.16, 0.67, 20.8, 85.8, false},
		{128, 0.1, 0.5, 0.16, 0.28, 20.8, 36.5, false},
	} {
		c := Default()
		c.Latent, c.Chance, c.Upper = want.latent, want.chance, want.upper
		from, to := c.band()
		if want.empty {
			if from <= to || c.Validate() == nil {
				t.Errorf("d_x %d, eps %g, c_bar %g: band %g to %g, want it empty and refused",
					want.latent, want.chance, want.upper, from, to)
			}
			continue
		}
		if n := float64(want.latent); math.Abs(from/n-want.from) > 0.006 || math.Abs(to/n-want.to) > 0.006 ||
			math.Abs(from-want.natsFrom) > 0.06 || math.Abs(to-want.natsTo) > 0.06 {
			t.Errorf("d_x %d, eps %g, c_bar %g: band %g to %g, want %+v", want.latent, want.chance, want.upper, from, to, want)
		}
	}
}

func TestBandEndsWhereTheLossesStart(t *testing.T) {
	for _, level := range []float64{0.1, -0.05} { // the second is also met at KL = 0, but not right above
		c := Default()
		c.Lower = level
		from, to := perDimension(c)
		for _, kl := range []float64{from, to} {
			if _, worse := violations(c, kl); math.Abs(worse) > 1e-12 {
				t.Errorf("c_low %g: at the end %g of the band, the larger ReLU argument is %g, want 0",
					level, kl, worse)
			}
		}
		if _, worse := violations(c, (from+to)/2); worse > 0 {
			t.Errorf("c_low %g: within the band a loss is %g", level, worse)
		}
	}
}

// perDimension is the band of c per dimension of the code.
func perDimension(c Config) (from, to float64) {
	from, to = c.band()
	return from / float64(c.Latent), to / float64(c.Latent)
}

// violations returns L_LB's ReLU argument at a KL per dimension, and the larger of L_LB's and L_UB's.
func violations(c Config, kl float64) (lower, worse float64) {
	q := math.Sqrt(2 * kl / float64(c.Latent))
	lower = c.Lower - kl + c.beta()*q
	return lower, max(lower, kl+c.beta()*q-c.Upper)
}

// With d_x = 32, only codes with almost no information meet both levels, and only if c_low is negative.
func TestBandOfANegativeLowerLevelStartsAtZero(t *testing.T) {
	c := Default()
	c.Latent, c.Lower = 32, -0.05
	from, to := perDimension(c)
	lower, worse := violations(c, to)
	if from != 0 || to > 0.02 || math.Abs(lower) > 1e-12 || worse > 1e-12 {
		t.Errorf("band %g to %g, want one from 0 to where L_LB begins", from, to)
	}
	c.Lower = -10
	if from, to := perDimension(c); from != 0 || to < 0.2 {
		t.Errorf("c_low -10: band %g to %g, want all KL below the upper level", from, to)
	}
}
