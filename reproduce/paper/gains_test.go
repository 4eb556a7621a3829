// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

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

// The variance of x̄/b̄ is var(x̄)/b̄² + x̄²·var(b̄)/b̄⁴ to first order: a baseline near zero leaves the gain open.
func TestRelativeGainsAreAsUncertainAsTheirBaseline(t *testing.T) {
	upper, lower := suite(MeltingPot)[:1], suite(VMAS)[:1]
	x, b := []float64{10, 12, 14}, []float64{-1, -2, -6}
	estimate, _ := stats.Contrast(gains("", upper, lower).terms([][]float64{x, b, {4, 4.0001}, {2, 2}}))
	if want := (12.+3)/3 - 1; math.Abs(estimate.Value-want) > 1e-4 {
		t.Errorf("the difference of gains is %g, want %g", estimate.Value, want)
	}
	// Variances 4/3 of x̄ and 7/3 of b̄ = −3; Welch's degrees of freedom of the two.
	vx, vb := 4./3/9, 144*7./3/81
	half := distuv.StudentsT{Sigma: 1, Nu: (vx + vb) * (vx + vb) / (vx*vx/2 + vb*vb/2)}.Quantile(0.975) * math.Sqrt(vx+vb)
	if got := (estimate.High - estimate.Low) / 2; math.Abs(got-half) > 1e-3*half {
		t.Errorf("half the interval is %g, want %g", got, half)
	}
}
