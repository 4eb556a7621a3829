// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// Contrast is Σ weights_k · mean(groups_k) with the t interval of Welch and Satterthwaite, for groups whose variances
// may differ, and the two-sided probability p of so large a value if its true one is 0. Welch is that of two groups
// with weights 1 and −1. Without two runs in each group, or where all runs of every group are equal, it has no bounds
// and p is NaN: equal runs do not say how far the next one may lie.
func Contrast(groups [][]float64, weights []float64) (estimate Interval, p float64) {
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

// Exact is the share of n runs that succeeded with the exact interval of Clopper and Pearson (1934), which covers at
// least as often as it says however few runs there are. Without a run all of it is NaN.
func Exact(successes, n int) Interval {
	if n == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	k, m, tail := float64(successes), float64(n-successes), (1-Level)/2
	i := Interval{Value: k / float64(n), Low: 0, High: 1}
	if k > 0 {
		i.Low = distuv.Beta{Alpha: k, Beta: m + 1}.Quantile(tail)
	}
	if m > 0 {
		i.High = distuv.Beta{Alpha: k + 1, Beta: m}.Quantile(1 - tail)
	}
	return i
}

// Fisher returns the one-sided p of Fisher's exact test: the probability of at least successes of n in the first group, if
// both groups succeed alike and all successes of both are as many as they are.
func Fisher(successes, n, otherSuccesses, otherN int) float64 {
	all, p := successes+otherSuccesses, 0.0
	choose := func(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
	for k := successes; k <= min(n, all); k++ {
		if all-k <= otherN {
			p += math.Exp(choose(n, k) + choose(otherN, all-k) - choose(n+otherN, all))
		}
	}
	return min(p, 1)
}

// Waiting is the time until an event, or until watching ended without one.
type Waiting struct {
	Time  float64
	Event bool
}

// LogRank returns the two-sided p of the log-rank test (Mantel 1966) of whether two groups wait equally long. It returns 1
// where no event tells them apart.
func LogRank(x, y []Waiting) float64 {
	var times []float64
	for _, w := range slices.Concat(x, y) {
		if w.Event {
			times = append(times, w.Time)
		}
	}
	slices.Sort(times)
	difference, variance := 0.0, 0.0
	for _, t := range slices.Compact(times) {
		events, waiting := at(x, t)
		otherEvents, otherWaiting := at(y, t)
		d, n := events+otherEvents, waiting+otherWaiting
		difference += events - d*waiting/n
		if n > 1 {
			variance += d * (waiting / n) * (otherWaiting / n) * (n - d) / (n - 1)
		}
	}
	if variance == 0 {
		return 1
	}
	return 1 - distuv.ChiSquared{K: 1}.CDF(difference*difference/variance)
}

// at counts events at time t, and those that still wait just before.
func at(x []Waiting, t float64) (events, waiting float64) {
	for _, w := range x {
		if w.Time >= t {
			waiting++
		}
		if w.Event && w.Time == t {
			events++
		}
	}
	return events, waiting
}
