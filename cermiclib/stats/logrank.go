// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

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
