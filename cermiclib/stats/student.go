// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Student is the mean of runs with Student's t interval, which covers as often as it says however few normal runs there
// are. Without two runs, or where all are equal, it has no bounds.
func Student(x []float64) Interval {
	n := float64(len(x))
	return student(mean(x), variance(x)/n, n-1)
}

// Welch is mean(x) − mean(y) with Welch's t interval, for runs whose spreads may differ. Without two of both, or where
// neither differ among themselves, it has no bounds.
func Welch(x, y []float64) Interval {
	n, m := float64(len(x)), float64(len(y))
	a, b := variance(x)/n, variance(y)/m
	return student(mean(x)-mean(y), a+b, (a+b)*(a+b)/(a*a/(n-1)+b*b/(m-1)))
}

// Further is the interval in which one more run lies as often as Level says, around the mean of runs x.
func Further(x []float64) Interval {
	n := float64(len(x))
	return student(mean(x), variance(x)*(1+1/n), n-1)
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
