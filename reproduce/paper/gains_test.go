// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"math"
	"testing"

	"cermic/cermiclib/stats"
)

func TestRelativeGainsLeaveOutTasksWithoutABaseline(t *testing.T) {
	upper, lower := suite(MeltingPot)[:2], suite(VMAS)[:1]
	gain := func(scores ...[]float64) float64 {
		estimate, _ := stats.Contrast(gains("", upper, lower).terms(scores))
		return estimate.Value
	}
	method, base, nothing := []float64{3, 5}, []float64{-2, -2}, []float64{0, 0}
	want := (4.+2)/2 - 1 // of the upper task that has a baseline, less that of the lower one
	for _, scores := range [][][]float64{{method, base, method, nothing, {4}, {2}}, {method, nothing, method, base, {4}, {2}}} {
		if got := gain(scores...); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %g, want %g", scores, got, want)
		}
	}
	for _, scores := range [][][]float64{{method, nothing, method, nothing, {4}, {2}}, {method, base, method, base, {4}, {0}}} {
		if got := gain(scores...); !math.IsNaN(got) {
			t.Errorf("%v: %g without any baseline on one side", scores, got)
		}
	}
}
