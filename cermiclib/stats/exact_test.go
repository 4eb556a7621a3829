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

// Values are those of R's fisher.test(alternative = "greater").
func TestFisherOfKnownTables(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		want       float64
	}{
		{7, 10, 0, 10, 0.001548}, {3, 4, 1, 4, 0.242857}, {0, 5, 0, 5, 1}, {10, 10, 0, 10, 1 / 184756.0}, {1, 4, 3, 4, 0.985714},
	} {
		if got := Fisher(c.a, c.n, c.b, c.m); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%d of %d beside %d of %d: p = %.7f, want %.7f", c.a, c.n, c.b, c.m, got, c.want)
		}
	}
}

// The remission times of Freireich et al. (1963): R's survdiff gives χ² = 16.8.
func TestLogRankOfKnownTimes(t *testing.T) {
	event := func(times ...float64) (w []Waiting) {
		for _, t := range times {
			w = append(w, Waiting{t, true})
		}
		return w
	}
	treated := event(6, 6, 6, 7, 10, 13, 16, 22, 23)
	for _, t := range []float64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35} {
		treated = append(treated, Waiting{t, false})
	}
	control := event(1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23)
	if p := LogRank(treated, control); math.Abs(p-4.17e-5) > 2e-6 {
		t.Errorf("p = %g, want 4.17e-05", p)
	}
	if p := LogRank(control, control); math.Abs(p-1) > 1e-9 {
		t.Errorf("the same times have p = %g", p)
	}
	if p := LogRank(nil, nil); p != 1 {
		t.Errorf("no times have p = %g", p)
	}
}
