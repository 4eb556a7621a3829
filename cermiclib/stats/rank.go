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

// SignedRank is the two-sided p of Wilcoxon's signed-rank test that differences, one of each task, lie symmetrically
// about 0. It is exact for any number of them, equal sizes sharing the mean of their ranks; zeros are left out. It is
// NaN of a NaN, and 1 where nothing differs.
func SignedRank(differences []float64) float64 {
	var kept, sizes []float64
	for _, d := range differences {
		if math.IsNaN(d) {
			return math.NaN()
		}
		if d != 0 {
			kept, sizes = append(kept, d), append(sizes, math.Abs(d))
		}
	}
	// Twice the ranks are whole numbers also where some are shared.
	twice, plus, all := make([]int, len(kept)), 0, 0
	for i, r := range ranks(sizes) {
		twice[i] = int(math.Round(2 * (r + 1)))
		all += twice[i]
		if kept[i] > 0 {
			plus += twice[i]
		}
	}
	// odds[s] is the probability that the ranks with a plus sum to s when every sign is a coin's.
	odds := make([]float64, all+1)
	odds[0] = 1
	for _, r := range twice {
		for s := all; s >= 0; s-- {
			odds[s] /= 2
			if s >= r {
				odds[s] += odds[s-r] / 2
			}
		}
	}
	tail := 0.0
	for s := range min(plus, all-plus) + 1 {
		tail += odds[s]
	}
	return min(1, 2*tail)
}
