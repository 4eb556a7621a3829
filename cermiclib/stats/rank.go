// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// RankCorrelation is Spearman's ρ of two samples of equal length, from -1 to 1; equal values share the mean of their ranks. It is
// NaN where one sample does not vary.
func RankCorrelation(a, b []float64) float64 { return stat.Correlation(ranks(a), ranks(b), nil) }

// ranks are the places of v's values in ascending order, from 0.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(v[i], v[j]) })
	out := make([]float64, len(v))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && v[order[to]] == v[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return out
}

// Exceeds is the probability that a value of a is larger than one of b, ties counting half (the area under the curve of telling them
// apart): .5 for equal distributions.
func Exceeds(a, b []float64) float64 {
	total := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				total++
			case x == y:
				total += 0.5
			}
		}
	}
	return total / float64(len(a)*len(b))
}
