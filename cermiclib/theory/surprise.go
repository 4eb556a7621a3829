// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"cermic/envs/rng"
)

// realisedSurprise is KL(posterior ‖ prior) of the linear model after one particular next state, whose difference from
// the prediction is residual [c]. The definition of r^i speaks of this number; Theorem 1 is about its mean under the
// predictive law, the information gain. Only the mean obeys the sandwich.
//
// paper:Theorem1  KL = ½·[ c·(log(1+x) − x/(1+x)) + ‖s' − Wη‖²·x/(1+x)² ]
func realisedSurprise(x float64, residual []float64) float64 {
	return (float64(len(residual))*(math.Log1p(x)-x/(1+x)) + floats.Dot(residual, residual)*x/((1+x)*(1+x))) / 2
}

// surpriseBand returns what Theorem 1 allows for the square of r^i: c·x/4 to c·x/2 nats.
//
// paper:Theorem1  (c/4)·x ≤ (r^i)² ≤ (c/2)·x
func surpriseBand(x float64, c int) (low, high float64) {
	return float64(c) / 4 * x, float64(c) / 2 * x
}

// outsideBand is the exact probability that the realised surprise leaves [surpriseBand] when the model is right. Under
// the predictive law N(Wη, (1+x)·I) the squared residual is (1+x) times a χ² variable with c degrees of freedom.
// It wants x > 0: at zero nothing can be learned and the band is a point.
func outsideBand(x float64, c int) float64 {
	low, high := surpriseBand(x, c)
	chi := distuv.ChiSquared{K: float64(c)}
	level := func(kl float64) float64 { return (2*kl - float64(c)*(math.Log1p(x)-x/(1+x))) * (1 + x) / x }
	return chi.CDF(max(level(low), 0)) + chi.Survival(max(level(high), 0))
}

// sampleSurprise draws next states from the predictive law and returns the mean realised surprise, its standard error,
// and the fraction of draws outside [surpriseBand].
func sampleSurprise(x float64, c, draws int, seed uint64) (mean, stderr, outside float64) {
	r := rng.New(seed, "theory/surprise", uint64(c), math.Float64bits(x))
	low, high := surpriseBand(x, c)
	residual := make([]float64, c)
	sum, squares := 0.0, 0.0
	for range draws {
		for i := range residual {
			residual[i] = math.Sqrt(1+x) * float64(r.Norm())
		}
		kl := realisedSurprise(x, residual)
		sum, squares = sum+kl, squares+kl*kl
		if kl < low || kl > high {
			outside++
		}
	}
	n := float64(draws)
	mean = sum / n
	return mean, math.Sqrt((squares/n - mean*mean) / n), outside / n
}
