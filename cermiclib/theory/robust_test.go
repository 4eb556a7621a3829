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

// The search's grid holds the worst point of the first case, a corner of the set. In the second case the worst mean,
// γ2/b, is off the grid by at most δ = √γ1/(points−1). The second derivative there is 2/(b²−γ2). So the search is too
// high by at most δ²/(b²−γ2) to second order, doubled here for the rest.
func TestClosedWorstCaseEqualsBruteForceOverTheSet(t *testing.T) {
	const points = 201
	for _, a := range parameterSets() {
		edge := a.Gamma2 / math.Sqrt(a.Gamma1)
		for _, b := range []float64{1.2 * math.Sqrt(a.Gamma1), (math.Sqrt(a.Gamma1) + edge) / 2, edge, 1.5 * edge, 4 * edge} {
			found := a.search(b, points)
			tolerance := 1e-12
			if b > edge {
				tolerance += 2 * square(math.Sqrt(a.Gamma1)/(points-1)) / (b*b - a.Gamma2)
			}
			near(t, "worst case by search", found, a.worstCase(b), tolerance)
			if found < a.worstCase(b)-1e-12 {
				t.Errorf("γ = %v, b = %g: the search gives %g, below the closed form %g", a, b, found, a.worstCase(b))
			}
		}
		for _, epsilon := range []float64{0.01, 0.05, 0.1, 0.3, 0.6, 0.9} {
			near(t, "worst case at b = β", a.worstCase(a.Multiplier(epsilon)), 1-epsilon, 1e-12)
		}
	}
}

func TestWorstCaseIsZeroWhereTheMeanAloneCanExceedTheLevel(t *testing.T) {
	a := DefaultAmbiguity()
	near(t, "closed form", a.worstCase(0.9*math.Sqrt(a.Gamma1)), 0, 0)
	near(t, "search", a.search(0.9*math.Sqrt(a.Gamma1), 101), 0, 0)
}

// extremal is the law with the given mean and standard deviation, b > mean, on two values: low with probability p, else
// b. It has only leastMass below b. Moved up by any amount, the rest exceeds b: the infimum is approached, not
// attained.
func extremal(mean, std, b float64) (low, high, p float64) {
	return mean - std*std/(b-mean), b, leastMass(mean, std, b)
}

// tight is the standardised law for which Cantelli's bound is an equality at lambda > 0.
func tight(lambda float64) law {
	low, high, p := extremal(0, 1, lambda)
	return law{"two points", func(r *rng.Rand) float64 {
		if r.Float64() < p {
			return -low
		}
		return -high
	}}
}

// Among all laws on two values with the given moments, none has less mass up to b than leastMass. The extremal one has
// the moments and that mass.
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
		near(t, "least mass", least, leastMass(mean, std, b), 5e-4) // the step of p
		low, high, p := extremal(mean, std, b)
		m := p*low + (1-p)*high
		near(t, "mean of the extremal law", m, mean, 1e-14)
		near(t, "its variance", p*square(low-m)+(1-p)*square(high-m), std*std, 1e-13)
		near(t, "its mass below b", p, leastMass(mean, std, b), 0)
	}
	near(t, "least mass below the mean", leastMass(mean, std, 0.2), 0, 0)
}

// Four standard errors of a fraction from 20 000 draws are at most 0.015.
func TestCantelliHoldsInItsLowerTailFormOnly(t *testing.T) {
	const draws, tolerance = 20_000, 0.015
	lambda := []float64{0.2, 0.5, 1, 2, 3}
	for _, law := range Laws() {
		tails := SampleTails(law, lambda, draws, 1)
		for i := range lambda {
			if tails.Lower[i] > tails.Bound[i]+tolerance {
				t.Errorf("%s: P(X ≤ −%g) = %g, above the bound %g", law.name, lambda[i], tails.Lower[i], tails.Bound[i])
			}
			if lambda[i] >= 1 && tails.Printed[i] <= tails.Bound[i]+tolerance {
				t.Errorf("%s: P(X ≥ −%g) = %g, want it above %g, which makes the printed form false", law.name, lambda[i], tails.Printed[i], tails.Bound[i])
			}
		}
	}
	for _, v := range lambda {
		tails := SampleTails(tight(v), []float64{v}, draws, 1)
		near(t, "lower tail of the extremal law", tails.Lower[0], tails.Bound[0], tolerance)
	}
}

func TestLawsAreStandardised(t *testing.T) {
	const draws = 200_000
	for _, law := range append(Laws(), tight(0.7)) {
		r := rng.New(3, "test/"+law.name)
		sum, squares := 0.0, 0.0
		for range draws {
			x := law.draw(r)
			sum, squares = sum+x, squares+x*x
		}
		near(t, law.name+": mean", sum/draws, 0, 5/math.Sqrt(draws))               // five standard errors
		near(t, law.name+": second moment", squares/draws, 1, 15/math.Sqrt(draws)) // E x⁴ ≤ 9 for the exponential
	}
}
