// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Contrast is Σ weights_k · mean(groups_k) with the t interval of Welch and Satterthwaite, for groups whose variances
// may differ, and the two-sided probability p of so large a value if its true one is 0. Welch is that of two groups
// with weights 1 and −1. Without two runs in each group, or where all runs of every group are equal, it has no bounds
// and p is NaN: equal runs do not say how far the next one may lie. It panics unless there are as many weights as
// groups.
func Contrast(groups [][]float64, weights []float64) (estimate Interval, p float64) {
	if len(groups) != len(weights) {
		panic("stats: a contrast has other numbers of groups and of weights")
	}
	var value, sum, below float64
	for k, x := range groups {
		n := float64(len(x))
		v := weights[k] * weights[k] * variance(x) / n
		value += weights[k] * stat.Mean(x, nil)
		sum += v
		below += v * v / (n - 1)
	}
	freedom := sum * sum / below
	estimate = student(value, sum, freedom)
	if !(freedom > 0) {
		return estimate, math.NaN()
	}
	return estimate, 2 * distuv.StudentsT{Sigma: 1, Nu: freedom}.CDF(-math.Abs(value)/math.Sqrt(sum))
}

// Student is the mean of runs with Student's t interval, which covers as often as it says however few normal runs there
// are. Without two runs, or where all are equal, it has no bounds.
func Student(x []float64) Interval {
	i, _ := Contrast([][]float64{x}, []float64{1})
	return i
}

// Welch is stat.Mean(x, nil) − stat.Mean(y, nil) with Welch's t interval, for runs whose spreads may differ. Without two of both, or where
// neither differ among themselves, it has no bounds.
func Welch(x, y []float64) Interval {
	i, _ := Contrast([][]float64{x, y}, []float64{1, -1})
	return i
}

// Further is the interval in which one more run lies as often as Level says, around the mean of runs x.
func Further(x []float64) Interval {
	n := float64(len(x))
	return student(stat.Mean(x, nil), variance(x)*(1+1/n), n-1)
}

// student is the interval of an estimate with this variance and as many degrees of freedom.
func student(value, variance, freedom float64) Interval {
	if !(variance > 0 && freedom > 0) { // equal runs say no more of their spread than one does
		return Interval{value, math.NaN(), math.NaN()}
	}
	half := math.Sqrt(variance) * distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile((1+Level)/2)
	return Interval{value, value - half, value + half}
}

// Differ reports whether the means of runs x and y differ significantly at 1 − Level: both Welch's interval and d, the
// bootstrap's of their difference, exclude 0. The bootstrap alone calls every fifth pair of equal methods different
// that has three runs each.
func Differ(x, y []float64, d Interval) bool { return d.Excludes(0) && Welch(x, y).Excludes(0) }

// VarianceRatio is the variance of runs x over that of runs y, without bounds, and the two-sided probability p of
// spreads so different if they are truly alike, by the test of Brown and Forsythe (1974): it compares distances from
// the median, since the F test takes runs of which some have learned and some have not, or with a few far from the
// rest, for different in up to every third pair that is alike. With fewer than three runs of either, with three of
// both, whose distances cannot give a p below 0.116, or with distances that are all equal, p is NaN. Of four and four
// runs that are alike it takes 7 in 100 for different at a level of 5.
func VarianceRatio(x, y []float64) (estimate Interval, p float64) {
	estimate = Interval{stat.Variance(x, nil) / stat.Variance(y, nil), math.NaN(), math.NaN()}
	if len(x) < 3 || len(y) < 3 || len(x)+len(y) == 6 {
		return estimate, math.NaN()
	}
	a, b := fromMedian(x), fromMedian(y)
	n, m := float64(len(x)), float64(len(y))
	pooled := ((n-1)*variance(a) + (m-1)*variance(b)) / (n + m - 2)
	if pooled == 0 {
		return estimate, math.NaN()
	}
	t := (stat.Mean(a, nil) - stat.Mean(b, nil)) / math.Sqrt(pooled*(1/n+1/m))
	return estimate, 2 * distuv.StudentsT{Sigma: 1, Nu: n + m - 2}.CDF(-math.Abs(t))
}

// fromMedian are the distances of runs from their median.
func fromMedian(x []float64) []float64 {
	middle := quantile(slices.Sorted(slices.Values(x)), 0.5)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(v - middle)
	}
	return out
}

// variance is that of a sample: exactly 0 of equal runs, whose mean is rounded, NaN of one.
func variance(x []float64) float64 {
	if len(x) > 1 && slices.Min(x) == slices.Max(x) {
		return 0
	}
	return stat.Variance(x, nil)
}

// Holm adjusts the p values of several tests so that, of all that are compared with one level, any is below it by
// chance no oftener than that level says (Holm 1979). NaN is no test and stays.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out, least := slices.Clone(p), 0.0
	for k, i := range order {
		least = max(least, min(1, p[i]*float64(len(order)-k)))
		out[i] = least
	}
	return out
}
