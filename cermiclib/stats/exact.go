// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"

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
