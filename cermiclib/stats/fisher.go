// SPDX-License-Identifier: Apache-2.0

package stats

import "math"

// Fisher returns the one-sided p of Fisher's exact test: the probability of at least successes of n in the first group, if
// both groups succeed alike and all successes of both are as many as they are.
func Fisher(successes, n, otherSuccesses, otherN int) float64 {
	all := successes + otherSuccesses
	p := 0.0
	for k := successes; k <= min(n, all); k++ {
		if all-k <= otherN {
			p += math.Exp(logChoose(n, k) + logChoose(otherN, all-k) - logChoose(n+otherN, all))
		}
	}
	return min(p, 1)
}

// logChoose is the logarithm of n over k.
func logChoose(n, k int) float64 {
	lgamma := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return lgamma(n) - lgamma(k) - lgamma(n-k)
}
