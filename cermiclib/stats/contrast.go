// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Contrast is Σ weights_k · mean(groups_k) with the t interval of Welch and Satterthwaite, for groups whose variances may differ, and the
// two-sided probability p of so large a value if its true one is 0. Welch is that of two groups with weights 1 and −1. Without two runs in
// each group it has no bounds and p is NaN. It panics unless there are as many weights as groups.
func Contrast(groups [][]float64, weights []float64) (estimate Interval, p float64) {
	if len(groups) != len(weights) {
		panic("stats: a contrast has other numbers of groups and of weights")
	}
	var value, variance, below float64
	for k, x := range groups {
		n := float64(len(x))
		v := weights[k] * weights[k] * stat.Variance(x, nil) / n
		value += weights[k] * mean(x)
		variance += v
		below += v * v / (n - 1)
	}
	freedom := variance * variance / below
	estimate = student(value, variance, freedom)
	switch {
	case variance == 0 && value == 0:
		return estimate, 1
	case variance == 0:
		return estimate, 0
	case !(freedom > 0):
		return estimate, math.NaN()
	}
	return estimate, 2 * distuv.StudentsT{Sigma: 1, Nu: freedom}.CDF(-math.Abs(value)/math.Sqrt(variance))
}

// VarianceRatio is the variance of runs x over that of runs y with the F interval for normal runs, and the two-sided probability p of so
// large or small a ratio if the true one is 1. Without two runs of each, or where all runs of one are equal, it has no bounds and p is NaN.
func VarianceRatio(x, y []float64) (estimate Interval, p float64) {
	ratio := stat.Variance(x, nil) / stat.Variance(y, nil)
	if len(x) < 2 || len(y) < 2 || !(ratio > 0) || math.IsInf(ratio, 0) {
		return Interval{ratio, math.NaN(), math.NaN()}, math.NaN()
	}
	f := distuv.F{D1: float64(len(x) - 1), D2: float64(len(y) - 1)}
	below := f.CDF(ratio)
	return Interval{ratio, ratio / f.Quantile((1+Level)/2), ratio / f.Quantile((1-Level)/2)}, 2 * min(below, 1-below)
}

// Holm adjusts the p values of several tests so that, of all that are compared with one level, any is below it by chance no oftener than
// that level says (Holm 1979). NaN is no test and stays.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out, least := slices.Clone(p), 0.0
	for k, i := range order {
		least = max(least, min(1, p[i]*float64(len(order)-k)))
		out[i] = least
	}
	return out
}
