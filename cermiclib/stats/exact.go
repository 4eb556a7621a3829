// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// Exact is the share of n runs that succeeded with the exact interval of Clopper and Pearson (1934), which covers at
// least as often as it says however few runs there are. Without a run all of it is NaN. It panics unless 0 ≤ successes
// ≤ n.
func Exact(successes, n int) Interval {
	if successes < 0 || successes > n {
		panic(fmt.Sprintf("stats: %d successes of %d runs", successes, n))
	}
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
