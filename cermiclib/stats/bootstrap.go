// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"

	"cermic/envs/rng"
)

// Level is the probability with which an Interval should cover the value that infinitely many runs would give.
const Level = 0.95

// Interval is an estimate with its percentile bootstrap interval. Low and High are NaN if some task has fewer than two
// runs, which show no variation.
type Interval struct{ Value, Low, High float64 }

// Excludes reports whether x lies outside the interval; never if there is no interval.
func (i Interval) Excludes(x float64) bool { return x < i.Low || x > i.High }

// String writes an estimate with three digits, "4.6 [3.24, 5.95]", or without brackets if it has no interval.
func (i Interval) String() string {
	if math.IsNaN(i.Low) {
		return fmt.Sprintf("%.3g", i.Value)
	}
	return fmt.Sprintf("%.3g [%.3g, %.3g]", i.Value, i.Low, i.High)
}

// Bootstrap estimates f(scores) and its interval from reps resamples (2000 is plenty for two digits). Each resample
// draws, on every task on its own, as many runs as the task has, with replacement. f gets [task][run] in memory that
// the next resample reuses, and must not change it.
func Bootstrap(scores [][]float64, f func([][]float64) float64, reps int, r *rng.Rand) Interval {
	one := func(s [][]float64) []float64 { return []float64{f(s)} }
	return BootstrapEach(scores, one, reps, r)[0]
}

// BootstrapEach is Bootstrap for several numbers of the same resamples, such as a profile. It returns one interval for
// each element of f's result, whose length must not vary. The intervals hold for each element on its own, not for all
// together.
func BootstrapEach(scores [][]float64, f func([][]float64) []float64, reps int, r *rng.Rand) []Interval {
	var intervals []Interval
	for _, value := range f(scores) {
		intervals = append(intervals, Interval{value, math.NaN(), math.NaN()})
	}
	few := func(runs []float64) bool { return len(runs) < 2 } // its resamples are always the same
	if reps < 1 || len(scores) == 0 || slices.ContainsFunc(scores, few) {
		return intervals
	}
	draws, sample := make([][]float64, len(intervals)), make([][]float64, len(scores)) // [element][rep], [task][run]
	for task, runs := range scores {
		sample[task] = make([]float64, len(runs))
	}
	for range reps {
		for task, runs := range scores {
			for i := range runs {
				sample[task][i] = runs[r.IntN(len(runs))]
			}
		}
		for i, value := range f(sample) {
			draws[i] = append(draws[i], value)
		}
	}
	for i, d := range draws {
		if !hasNaN(d) {
			slices.Sort(d)
			intervals[i].Low, intervals[i].High = quantile(d, (1-Level)/2), quantile(d, (1+Level)/2)
		}
	}
	return intervals
}

// BootstrapTwo is Bootstrap for a number that compares two methods, such as Improvement; x and y are resampled
// independently, on the same tasks.
func BootstrapTwo(x, y [][]float64, f func(x, y [][]float64) float64, reps int, r *rng.Rand) Interval {
	both := slices.Concat(x, y)
	return Bootstrap(both, func(s [][]float64) float64 { return f(s[:len(x)], s[len(x):]) }, reps, r)
}

// Difference estimates f(x) − f(y) and its interval; Differ tests it for few runs.
func Difference(x, y [][]float64, f func([][]float64) float64, reps int, r *rng.Rand) Interval {
	return BootstrapTwo(x, y, func(x, y [][]float64) float64 { return f(x) - f(y) }, reps, r)
}

// coverage is the measured coverage of Bootstrap's interval for the mean of n runs; the nominal coverage is Level. A
// test repeats the measurement on draws of normal runs. With two and three runs, the interval is their range, which
// covers the mean unless all runs lie on one side: 1 − 2·2⁻ⁿ.
var coverage = map[int]float64{2: .50, 3: .75, 10: .90}

// Caution warns readers of bootstrap intervals over few runs.
var Caution = fmt.Sprintf("Bootstrap intervals of few seeds are too narrow: with three seeds they cover the mean "+
	"%.0f times in 100, not %.0f (two: %.0f, ten: %.0f).", 100*coverage[3], 100*Level, 100*coverage[2], 100*coverage[10])
