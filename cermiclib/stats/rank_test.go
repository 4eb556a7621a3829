// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"testing"

	"cermic/envs/rng"
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

func TestSignedRankMatchesScipyAndEveryChoiceOfSigns(t *testing.T) {
	// scipy.stats.wilcoxon of Darwin's heights of fertilised plants: p = 0.041259765625.
	darwin := []float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}
	if got := SignedRank(darwin); got != 0.041259765625 {
		t.Errorf("Darwin's plants: p = %v", got)
	}
	// With equal sizes and zeros, against all 2⁶ signs.
	d := []float64{0, 1, 1, -2, 3, 3, 0, -4}
	rank := []float64{1.5, 1.5, 3, 4.5, 4.5, 6}
	plus, whole := 1.5+1.5+4.5+4.5, 21.0
	least, as := min(plus, whole-plus), 0
	for signs := range 64 {
		sum := 0.0
		for i, r := range rank {
			if signs&(1<<i) != 0 {
				sum += r
			}
		}
		if sum <= least {
			as++
		}
	}
	if got, want := SignedRank(d), min(1, 2*float64(as)/64); math.Abs(got-want) > 1e-15 {
		t.Errorf("p = %v, counted %v", got, want)
	}
	for _, c := range []struct {
		d    []float64
		want float64
	}{{nil, 1}, {[]float64{0, 0}, 1}, {[]float64{3}, 1}, {[]float64{1, 2, 3, 4, 5}, 0.0625}, {[]float64{-1, -2, -3, -4, -5}, 0.0625}} {
		if got := SignedRank(c.d); got != c.want {
			t.Errorf("%v: p = %v, want %v", c.d, got, c.want)
		}
	}
	if got := SignedRank([]float64{1, math.NaN()}); !math.IsNaN(got) {
		t.Errorf("with NaN p = %v", got)
	}
}

func TestSignedRankIsSignificantByChanceNoMoreOftenThanItsLevel(t *testing.T) {
	r, hits := rng.New(7, "signed rank"), 0
	const trials = 4000
	for range trials {
		d := make([]float64, 11)
		for i := range d {
			d[i] = float64(r.Norm())
		}
		if SignedRank(d) <= 0.05 {
			hits++
		}
	}
	if share := float64(hits) / trials; share > 0.06 || share < 0.03 {
		t.Errorf("by chance %g of the tests are significant at 0.05", share)
	}
}
