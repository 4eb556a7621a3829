// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestExactIntervalOfKnownCases(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{ // a run short of none or all has a closed form: the tail to the n-th root
		{0, 5, 0, 1 - math.Pow(0.025, 0.2)},
		{5, 5, math.Pow(0.025, 0.2), 1},
		{0, 1, 0, 0.975},
		{2, 5, 0.0527, 0.8534}, // tables of Clopper and Pearson
		{4, 10, 0.1216, 0.7376},
	} {
		i := Exact(c.k, c.n)
		if math.Abs(i.Low-c.low) > 1e-4 || math.Abs(i.High-c.high) > 1e-4 || i.Value != float64(c.k)/float64(c.n) {
			t.Errorf("%d of %d: %v, want [%.4f, %.4f]", c.k, c.n, i, c.low, c.high)
		}
	}
	if i := Exact(0, 0); !math.IsNaN(i.Value) || !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
		t.Errorf("without a run: %v", i)
	}
}

func TestExactIntervalCoversAtLeastAsOftenAsItSays(t *testing.T) {
	for _, n := range []int{3, 5, 10} {
		for p := 0.02; p < 1; p += 0.02 {
			covered := 0.0
			for k := range n + 1 {
				if !Exact(k, n).Excludes(p) {
					covered += distuv.Binomial{N: float64(n), P: p}.Prob(float64(k))
				}
			}
			if covered < Level {
				t.Errorf("%d runs that succeed with probability %.2f: covered %.4f times, want at least %.2f", n, p, covered, Level)
			}
		}
	}
}
