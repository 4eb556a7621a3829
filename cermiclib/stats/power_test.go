// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/stats"
)

// Cohen's tables: for effects of .5, .8 and 1.2 standard deviations, a t test at 5 % with a power of .8 takes 64, 26
// and 12 in each of two groups.
func TestSeedsNeededAreThoseOfCohensTables(t *testing.T) {
	// Two runs one apart have a standard deviation of √½.
	const sd = 0.7071067811865476
	for effect, want := range map[float64]int{0.5: 64, 0.8: 26, 1.2: 12, 2: 6} {
		x, y := []float64{0, 1}, []float64{effect * sd, 1 + effect*sd}
		if got := stats.SeedsNeeded([][]float64{y, x}, []float64{1, -1}, 0.05); got != want {
			t.Errorf("an effect of %g standard deviations needs %d runs, want %d", effect, got, want)
		}
	}
}

// So many runs find the difference four times in five, three quarters as many do not.
func TestSeedsNeededFindTheDifferenceAsOftenAsTheySay(t *testing.T) {
	x, y := []float64{0, 1, 2}, []float64{2, 4, 3.4}
	two := []float64{1, -1}
	needed := stats.SeedsNeeded([][]float64{y, x}, two, 0.05)
	r := rand.New(rand.NewPCG(1, 2))
	found := func(n int) (share float64) {
		const repetitions = 4000
		for range repetitions {
			a, b := make([]float64, n), make([]float64, n)
			for i := range n {
				a[i] = stat.Mean(y, nil) + stat.StdDev(y, nil)*r.NormFloat64()
				b[i] = stat.Mean(x, nil) + stat.StdDev(x, nil)*r.NormFloat64()
			}
			if _, p := stats.Contrast([][]float64{a, b}, two); p < 0.05 {
				share += 1.0 / repetitions
			}
		}
		return share
	}
	if all, less := found(needed), found(needed*3/4); all < 0.78 || all > 0.88 || less > 0.76 {
		t.Errorf("%d runs each find it with a probability of %.3f, want .8; %d with %.3f", needed, all, needed*3/4, less)
	}
}

func TestSeedsNeededSayWhereRunsDoNotTell(t *testing.T) {
	two := []float64{1, -1}
	for name, groups := range map[string][][]float64{
		"one run": {{1}, {2, 3}}, "no difference": {{1, 2}, {2, 1}}, "equal runs": {{1, 1}, {2, 2}},
	} {
		if got := stats.SeedsNeeded(groups, two, 0.05); got != 0 {
			t.Errorf("%s: %d runs, want 0", name, got)
		}
	}
	if got := stats.SeedsNeeded([][]float64{{0, 100}, {0.1, 100}}, two, 0.05); got != stats.MostSeeds+1 {
		t.Errorf("next to no difference: %d runs, want %d", got, stats.MostSeeds+1)
	}
}
