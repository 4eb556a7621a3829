// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"testing"
)

func TestRankCorrelation(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{10, 20, 1e6, 1e9}, 1},
		{[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{[]float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5}, 0.8}, // 1 - 6·Σd²/(n(n²-1)) = 1 - 6·4/120
		{[]float64{1, 1, 2}, []float64{1, 2, 3}, math.Sqrt(3) / 2},
	} {
		if got := RankCorrelation(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("rank correlation of %v and %v is %g, want %g", c.a, c.b, got, c.want)
		}
	}
	if got := RankCorrelation([]float64{1, 1}, []float64{1, 2}); !math.IsNaN(got) {
		t.Errorf("of a constant it is %g", got)
	}
}

func TestExceeds(t *testing.T) {
	if got := Exceeds([]float64{1, 2}, []float64{1, 3}); got != 0.375 { // of four pairs one is larger, one equal
		t.Errorf("probability of the larger value is %g, want .375", got)
	}
}
