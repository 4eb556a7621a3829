// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"strings"
	"testing"

	"cermic/envs/rng"
)

// The expected bounds come from scipy 1.17.1: t.interval(0.95, n−1, mean, sem) and
// ttest_ind(a, b, equal_var=False).confidence_interval().
func TestIntervalsOfFewRunsMatchScipy(t *testing.T) {
	x, y := scoresX[0], []float64{0.25, 0.1, 0.48}
	for name, c := range map[string]struct{ got, want Interval }{
		"t":     {Student(x), Interval{0.502, 0.1266763756531457, 0.8773236243468543}},
		"Welch": {Welch(x, y), Interval{0.22533333333333333, -0.20401216683876483, 0.6546788335054314}},
	} {
		if !near(c.got.Value, c.want.Value) || math.Abs(c.got.Low-c.want.Low) > 1e-9 || math.Abs(c.got.High-c.want.High) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	for name, i := range map[string]Interval{"one run": Student([]float64{1}), "one and two": Welch([]float64{1}, []float64{2, 3}),
		"equal runs": Student([]float64{2, 2}), "equal runs of two": Welch([]float64{3, 3}, []float64{2, 2})} {
		if !math.IsNaN(i.Low) || !math.IsNaN(i.High) || i.Excludes(100) {
			t.Errorf("%s has bounds: %v", name, i)
		}
	}
}

// Normal runs: the bootstrap covers as often as coverage says. 1000 trials of a share of 0.75 have a standard error of
// 0.014.
func TestCoverageIsWhatTheBootstrapReaches(t *testing.T) {
	const trials, reps = 1000, 2000
	for n, want := range coverage {
		r := rng.New(1, "stats/coverage", uint64(n))
		covered := 0.0
		for range trials {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(r.Norm())
			}
			if !Bootstrap([][]float64{x}, Mean, reps, r).Excludes(0) {
				covered += 1. / trials
			}
		}
		if math.Abs(covered-want) > 0.04 {
			t.Errorf("%d runs are covered %.3f of the time, coverage says %.2f", n, covered, want)
		}
	}
	if !strings.Contains(Caution, "75 times in 100, not 95") {
		t.Errorf("Caution says %s", Caution)
	}
}

// Normal runs, three a method and no difference between methods: what Differ says of the bootstrap holds, and Student's
// interval covers as it should. With 2000 trials a share of 0.95 has a standard error of 0.005, one of 0.2 of 0.01.
func TestThreeRunsAreTooFewForTheBootstrap(t *testing.T) {
	const trials, seeds, reps = 2000, 3, 200
	r := rng.New(1, "stats/few")
	draw := func() []float64 {
		x := make([]float64, seeds)
		for i := range x {
			x[i] = float64(r.Norm())
		}
		return x
	}
	var student, bootstrap, both float64
	for range trials {
		x, y := draw(), draw()
		d := Difference([][]float64{x}, [][]float64{y}, Mean, reps, r)
		for share, is := range map[*float64]bool{
			&student: !Student(x).Excludes(0), &bootstrap: d.Excludes(0), &both: Differ(x, y, d),
		} {
			if is {
				*share += 1. / trials
			}
		}
	}
	for name, c := range map[string]struct{ got, least, most float64 }{
		"Student covers":                       {student, 0.93, 0.97},
		"bootstrap calls equal ones different": {bootstrap, 0.15, 0.25},
		"Differ calls equal ones different":    {both, 0, 0.05},
	} {
		if c.got < c.least || c.got > c.most {
			t.Errorf("%s in %.3f of the trials, want %g to %g", name, c.got, c.least, c.most)
		}
	}
}
