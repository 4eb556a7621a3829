// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// targetPower is the share of repetitions in which SeedsNeeded wants a difference to be found.
const targetPower = 0.8

// MostSeeds is the largest number of runs a group that SeedsNeeded looks at.
const MostSeeds = 1000

// SeedsNeeded is the smallest number of runs in each group with which Contrast would find a difference at the
// significance level alpha with a probability of targetPower, if means and variances are truly those that these groups
// have. It is 0 where the groups do not say: fewer than two runs in one, equal runs, or no difference. More than
// MostSeeds is MostSeeds + 1. A few runs know their own variance badly, so it is an order of magnitude.
func SeedsNeeded(groups [][]float64, weights []float64, alpha float64) int {
	value, terms := 0.0, make([]float64, len(groups)) // of the variance, for one run a group
	sum, squares := 0.0, 0.0
	for k, x := range groups {
		if len(x) < 2 {
			return 0
		}
		value += weights[k] * stat.Mean(x, nil)
		terms[k] = weights[k] * weights[k] * stat.Variance(x, nil)
		sum += terms[k]
		squares += terms[k] * terms[k]
	}
	if value == 0 || !(sum > 0) {
		return 0
	}
	found := func(n float64) bool {
		freedom := (n - 1) * sum * sum / squares
		return power(math.Abs(value)/math.Sqrt(sum/n), freedom, alpha) >= targetPower
	}
	return 2 + sort.Search(MostSeeds-1, func(i int) bool { return found(float64(2 + i)) })
}

// power is the probability that a t test with these degrees of freedom finds an effect of delta standard errors: that
// of (Z + delta)/√(V/freedom) to lie beyond the critical value, V of χ² with as many degrees, as a mean over the
// quantiles of V.
func power(delta, freedom, alpha float64) float64 {
	critical := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(1 - alpha/2)
	spread := distuv.ChiSquared{K: freedom}
	const quantiles = 200
	sum := 0.0
	for i := range quantiles {
		bound := critical * math.Sqrt(spread.Quantile((float64(i)+0.5)/quantiles)/freedom)
		sum += distuv.UnitNormal.CDF(delta-bound) + distuv.UnitNormal.CDF(-delta-bound)
	}
	return sum / quantiles
}
