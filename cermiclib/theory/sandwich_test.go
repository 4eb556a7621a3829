// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"cermic/envs/envtest/must"
)

// The closed form against the general divergence between Gaussians, with Λ updated by hand: d = 3, c = 2 independent
// rows.
func TestRealisedSurpriseIsTheDivergenceOfPosteriorFromPrior(t *testing.T) {
	eta := mat.NewVecDense(3, []float64{0.4, -0.7, 1.1})
	gram := mat.NewSymDense(3, []float64{1.5, 0.2, 0.1, 0.2, 0.9, -0.3, 0.1, -0.3, 2})
	var updated mat.SymDense
	updated.SymRankOne(gram, 1, eta)
	prior, posterior := inverse(t, gram), inverse(t, &updated)
	x := mat.Inner(eta, prior, eta)
	residual := []float64{0.8, -1.7}
	total := 0.0
	for _, e := range residual { // the prior mean does not matter: only the shift Λ'⁻¹η·e does
		var shift mat.VecDense
		shift.MulVec(posterior, eta)
		shift.ScaleVec(e, &shift)
		p, ok1 := distmv.NewNormal(shift.RawVector().Data, posterior, nil)
		q, ok2 := distmv.NewNormal(make([]float64, 3), prior, nil)
		if !ok1 || !ok2 {
			t.Fatal("covariances are not positive definite")
		}
		total += distmv.KullbackLeibler{}.DistNormal(p, q)
	}
	near(t, "KL", realisedSurprise(x, residual), total, 1e-13)
}

func inverse(t *testing.T, a *mat.SymDense) *mat.SymDense {
	t.Helper()
	var c mat.Cholesky
	if !c.Factorize(a) {
		t.Fatal("matrix is not positive definite")
	}
	var b mat.SymDense
	must.Do(t, c.InverseTo(&b))
	return &b
}

// Tolerances: five standard errors, which one of the 12 numbers exceeds with probability below 10⁻⁵.
func TestOnlyTheMeanOfRealisedSurpriseIsTheinformationGain(t *testing.T) {
	const draws = 20_000
	for _, c := range []int{1, 6} {
		for _, x := range []float64{0.2, 1, 4} {
			drawn := sampleSurprise(x, c, draws, 5)
			mean, deviation := stat.MeanStdDev(drawn, nil)
			near(t, "mean surprise", mean, informationGain(x, c), 5*deviation/math.Sqrt(draws))
			p := outsideBand(x, c)
			near(t, "fraction outside the band", outsideShare(drawn, x, c), p, 5*math.Sqrt(p*(1-p)/draws))
		}
	}
}

// The ranges are published with two decimals, for x up to 2.5; exact probabilities on a grid must span them.
func TestFractionsOutsideTheBandSpanThePublishedRanges(t *testing.T) {
	for _, c := range []struct {
		output    int
		low, high float64
	}{{1, 0.77, 0.84}, {6, 0.42, 0.61}, {64, 0.01, 0.52}} {
		low, high := 1.0, 0.0
		for _, x := range Linspace(0.01, 2.5, 250) {
			p := outsideBand(x, c.output)
			low, high = min(low, p), max(high, p)
		}
		near(t, "least fraction", low, c.low, 0.01)
		near(t, "largest fraction", high, c.high, 0.01)
	}
}

func TestMeanSurpriseIsBelowTheLowerBoundBeyondTheRoot(t *testing.T) {
	low, _ := surpriseBand(4, 1)
	near(t, "information gain at x = 4", informationGain(4, 1), 0.8047, 5e-5)
	near(t, "lower bound at x = 4", low, 1, 0)
}
