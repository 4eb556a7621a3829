// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"testing"
)

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
