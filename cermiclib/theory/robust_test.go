// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"
	"testing"

	"cermic/envs/rng"
)

func TestMultiplierHasThePublishedValues(t *testing.T) {
	a := DefaultAmbiguity()
	for epsilon, beta := range map[float64]float64{0.05: 4.583, 0.1: 3.224, 0.2: 2.224, 0.3: 1.751} {
		near(t, "β", a.Multiplier(epsilon), beta, 5e-4) // published with three decimals
	}
}

func TestMultiplierCasesMeetAtTheRatioOfTheRadii(t *testing.T) {
	for _, a := range parameterSets() {
		edge := a.Gamma1 / a.Gamma2
		near(t, "β at the edge", a.Multiplier(edge), a.Gamma2/math.Sqrt(a.Gamma1), 1e-12)
		near(t, "β below the edge", a.Multiplier(edge*(1-1e-9)), a.Multiplier(edge), 1e-7) // β' ≈ −β/2ε times 1e-9·ε
	}
}

// parameterSets are five by five radii over the paper's domain.
func parameterSets() []Ambiguity {
	var sets []Ambiguity
	for _, gamma1 := range []float64{0.01, 0.05, 0.3, 1, 2} {
		for _, extra := range []float64{0.01, 0.05, 0.2, 1, 3} {
			sets = append(sets, Ambiguity{gamma1, max(gamma1, 1) + extra})
		}
	}
	return sets
}

// The search's grid holds the worst point of the first case, a corner of the set. In the second the worst mean, γ2/b, is
// off the grid by at most δ = √γ1/(points−1), and the second derivative there is 2/(b²−γ2): the search is too high by at most
// δ²/(b²−γ2) to second order, doubled here for the rest.
func TestClosedWorstCaseEqualsBruteForceOverTheSet(t *testing.T) {
	const points = 201
	for _, a := range parameterSets() {
		if err := a.Validate(); err != nil {
			t.Fatal(err)
		}
		edge := a.Gamma2 / math.Sqrt(a.Gamma1)
		for _, b := range []float64{1.2 * math.Sqrt(a.Gamma1), (math.Sqrt(a.Gamma1) + edge) / 2, edge, 1.5 * edge, 4 * edge} {
			found, mean, spread := a.Search(b, points)
			tolerance := 1e-12
			if b > edge {
				tolerance += 2 * square(math.Sqrt(a.Gamma1)/(points-1)) / (b*b - a.Gamma2)
			}
			near(t, "worst case by search", found, a.WorstCase(b), tolerance)
			if found < a.WorstCase(b)-1e-12 {
				t.Errorf("γ = %v, b = %g: mean %g and spread %g give %g, below the closed form %g", a, b, mean, spread, found, a.WorstCase(b))
			}
		}
		for _, epsilon := range []float64{0.01, 0.05, 0.1, 0.3, 0.6, 0.9} {
			near(t, "worst case at b = β", a.WorstCase(a.Multiplier(epsilon)), 1-epsilon, 1e-12)
		}
	}
}

func TestWorstCaseIsZeroWhereTheMeanAloneCanExceedTheLevel(t *testing.T) {
	a := DefaultAmbiguity()
	found, _, _ := a.Search(0.9*math.Sqrt(a.Gamma1), 101)
	near(t, "closed form", a.WorstCase(0.9*math.Sqrt(a.Gamma1)), 0, 0)
	near(t, "search", found, 0, 0)
}

func TestConstraintIsFarTooCarefulForAGaussian(t *testing.T) {
	coverage, enough := GaussianCoverage(DefaultAmbiguity().Multiplier(0.1), 0.1)
	near(t, "coverage", coverage, 0.9994, 1e-4) // published as 0.9993 to 0.9995
	near(t, "multiplier needed", enough, 1.28, 5e-3)
}

func TestRadiiOutsideTheDomainAreRefused(t *testing.T) {
	for _, a := range []Ambiguity{{0, 2}, {0.5, 1}, {3, 2}, {math.NaN(), 2}} {
		if a.Validate() == nil {
			t.Errorf("γ1 = %g, γ2 = %g was accepted", a.Gamma1, a.Gamma2)
		}
	}
}

// Among all laws on two values with the given moments, none has less mass up to b than LeastMass, and the extremal one
// has the moments and that mass.
func TestLeastMassIsTheInfimumOverTwoPointLaws(t *testing.T) {
	const mean, std = 0.3, 1.4
	for _, b := range []float64{0.5, 1, 2.5} {
		least := 1.0
		for _, p := range Linspace(0.0005, 0.9995, 2000) { // mass of the lower value
			low, high := mean-std*math.Sqrt((1-p)/p), mean+std*math.Sqrt(p/(1-p))
			if low <= b && high > b {
				least = min(least, p)
			}
		}
		near(t, "least mass", least, LeastMass(mean, std, b), 5e-4) // the step of p
		law := Extremal(mean, std, b)
		m := law.P*law.Low + (1-law.P)*law.High
		near(t, "mean of the extremal law", m, mean, 1e-14)
		near(t, "its variance", law.P*square(law.Low-m)+(1-law.P)*square(law.High-m), std*std, 1e-13)
		near(t, "its mass below b", law.P, LeastMass(mean, std, b), 0)
	}
	near(t, "least mass below the mean", LeastMass(mean, std, 0.2), 0, 0)
}

// Four standard errors of a fraction from 20 000 draws are at most 0.015.
func TestCantelliHoldsInItsLowerTailFormOnly(t *testing.T) {
	const draws, tolerance = 20_000, 0.015
	lambda := []float64{0.2, 0.5, 1, 2, 3}
	for _, law := range Laws() {
		tails := SampleTails(law, lambda, draws, 1)
		for i := range lambda {
			if tails.Lower[i] > tails.Bound[i]+tolerance {
				t.Errorf("%s: P(X ≤ −%g) = %g, above the bound %g", law.Name, lambda[i], tails.Lower[i], tails.Bound[i])
			}
			if lambda[i] >= 1 && tails.Printed[i] <= tails.Bound[i]+tolerance {
				t.Errorf("%s: P(X ≥ −%g) = %g, want it above %g, which makes the printed form false", law.Name, lambda[i], tails.Printed[i], tails.Bound[i])
			}
		}
	}
	for _, v := range lambda {
		tails := SampleTails(Tight(v), []float64{v}, draws, 1)
		near(t, "lower tail of the extremal law", tails.Lower[0], tails.Bound[0], tolerance)
	}
}

func TestLawsAreStandardised(t *testing.T) {
	const draws = 200_000
	for _, law := range append(Laws(), Tight(0.7)) {
		r := rng.New(3, "test/"+law.Name)
		sum, squares := 0.0, 0.0
		for range draws {
			x := law.Draw(r)
			sum, squares = sum+x, squares+x*x
		}
		near(t, law.Name+": mean", sum/draws, 0, 5/math.Sqrt(draws))               // five standard errors
		near(t, law.Name+": second moment", squares/draws, 1, 15/math.Sqrt(draws)) // E x⁴ ≤ 9 for the exponential
	}
}
