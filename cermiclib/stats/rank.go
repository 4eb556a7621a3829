// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// RankCorrelation is Spearman's, of pairs (x, y) of equal number: the correlation of their ranks, -1 to 1, where equal
// values share the mean of their ranks. It is 0 where x or y is all the same, and NaN with a value that is NaN.
func RankCorrelation(x, y []float64) float64 {
	if hasNaN(x) || hasNaN(y) {
		return math.NaN()
	}
	rx, ry := ranks(x), ranks(y)
	if len(x) == 0 || stat.Variance(rx, nil) == 0 || stat.Variance(ry, nil) == 0 || len(x) == 1 {
		return 0
	}
	return stat.Correlation(rx, ry, nil)
}

// ranks are the places of the values in ascending order, equal ones at the mean of theirs.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float64, len(x))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return out
}
