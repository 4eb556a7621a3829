// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"testing"
)

func TestRankCorrelation(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"same order", []float64{1, 2, 30, 400}, []float64{-8, 0, 0.1, 7}, 1},
		{"reverse order", []float64{1, 2, 30}, []float64{3, 2, 1}, -1},
		{"by hand: 1 - 6·Σd²/(n³-n), d² = 1, 1, 1, 1", []float64{1, 2, 3, 4}, []float64{2, 1, 4, 3}, 0.6},
		{"ties share a rank", []float64{1, 1, 2, 3}, []float64{1, 2, 3, 4}, 4.5 / math.Sqrt(4.5*5)},
		{"one side is constant", []float64{5, 5, 5}, []float64{1, 2, 3}, 0},
		{"nothing", nil, nil, 0},
	} {
		if got := RankCorrelation(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
	if got := RankCorrelation([]float64{1, math.NaN()}, []float64{1, 2}); !math.IsNaN(got) {
		t.Errorf("with a NaN it is %g", got)
	}
}
