// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"cermic/envs/rng"
)

// Expected values: scipy.stats.ttest_ind(x, y, equal_var=False), f.cdf, and by hand for Holm.
func TestContrastOfTwoGroupsIsWelchsTest(t *testing.T) {
	x, y := scoresX[0], []float64{0.25, 0.1, 0.48}
	got, p := Contrast([][]float64{x, y}, []float64{1, -1})
	want := Welch(x, y)
	if got != want {
		t.Errorf("got %v, Welch says %v", got, want)
	}
	if inside := p > 0.05; inside == want.Excludes(0) {
		t.Errorf("p = %g, and the interval is %v", p, want)
	}
	// A half times one group minus a quarter times the other: value and variance by hand.
	got, _ = Contrast([][]float64{{1, 3}, {2, 6}}, []float64{0.5, -0.25})
	if got.Value != 0.5*2-0.25*4 {
		t.Errorf("got %v", got)
	}
	if i, p := Contrast([][]float64{{1}, {2, 3}}, []float64{1, -1}); !math.IsNaN(p) || !math.IsNaN(i.Low) {
		t.Errorf("one run has an interval: %v, p = %g", i, p)
	}
	for _, y := range [][]float64{{2, 2}, {1, 1}} {
		if i, p := Contrast([][]float64{{1, 1}, y}, []float64{1, -1}); !math.IsNaN(p) || !math.IsNaN(i.Low) {
			t.Errorf("equal runs: p = %g, %v", p, i)
		}
	}
	if _, p := Contrast([][]float64{{.1, .1, .1}, {.1, .1}}, []float64{1, -1}); !math.IsNaN(p) {
		t.Errorf("runs that differ in the rounding of their mean: p = %g", p)
	}
	if _, p := Contrast([][]float64{{1, 1}, {2, 3}}, []float64{1, -1}); math.IsNaN(p) {
		t.Error("equal runs beside others that differ are no test")
	}
}

func TestContrastIsSignificantByChanceAsOftenAsItsLevelSays(t *testing.T) {
	const trials = 2000
	r := rng.New(1, "stats/contrast")
	low, wide, even := 0., 0., 0.
	for range trials {
		g := [][]float64{normals(r, 5), normals(r, 5)}
		if _, p := Contrast([][]float64{g[0][:3], g[1][:3]}, []float64{1, -1}); p < 0.05 {
			low += 1. / trials
		}
		if _, p := VarianceRatio(g[0], g[1]); p < 0.05 {
			wide += 1. / trials
		}
		if _, p := VarianceRatio(g[0][:4], g[1][:4]); p < 0.05 {
			even += 1. / trials
		}
	}
	// Welch's test is somewhat conservative with three runs. The test of variances is very conservative with five runs
	// and somewhat liberal with four.
	if low > 0.06 || low < 0.02 || wide > 0.06 || wide == 0 || even > 0.08 {
		t.Errorf("means differ in %.3f, variances of five runs in %.3f, of four in %.3f of the trials", low, wide, even)
	}
}

// scipy.stats.levene(x, y, center='median').
func TestVarianceRatioIsTheTestOfBrownAndForsythe(t *testing.T) {
	i, p := VarianceRatio([]float64{43, 42.5, 41.8}, []float64{42.8, -5.7, 43.1})
	// The smallest possible p of three and three runs is 0.116.
	if math.Abs(i.Value-0.0004605199227678538) > 1e-6 || !math.IsNaN(i.Low) || !math.IsNaN(p) {
		t.Errorf("got %v, p = %g", i, p)
	}
	if _, p := VarianceRatio([]float64{1, 2, 3, 4, 10}, []float64{1, 1.1, 1.2, 1.3}); !(math.Abs(p-0.1792876707506206) < 1e-9) {
		t.Errorf("p = %g", p)
	}
	for _, few := range [][]float64{{1, 2}, {1, 1, 1}} {
		if _, p := VarianceRatio(few, few); !math.IsNaN(p) {
			t.Errorf("%v: p = %g", few, p)
		}
	}
}

func TestHolmMultipliesTheSmallestByTheNumberOfTests(t *testing.T) {
	got := Holm([]float64{0.04, math.NaN(), 0.01, 0.03, 0.9})
	for i, want := range []float64{0.09, math.NaN(), 0.04, 0.09, 0.9} { // 0.04·2 = 0.08 is raised to 0.03·3 = 0.09
		if math.IsNaN(want) != math.IsNaN(got[i]) || math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("got %v", got)
		}
	}
}

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

func normals(r *rng.Rand, n int) (x []float64) {
	for range n {
		x = append(x, float64(r.Norm()))
	}
	return x
}

// Normal runs: the bootstrap has the coverage in the table coverage. 1000 trials of a share of 0.75 have a standard
// error of 0.014.
func TestCoverageIsWhatTheBootstrapReaches(t *testing.T) {
	const trials, reps = 1000, 2000
	for n, want := range coverage {
		r := rng.New(1, "stats/coverage", uint64(n))
		covered := 0.0
		for range trials {
			if !Bootstrap([][]float64{normals(r, n)}, Mean, reps, r).Excludes(0) {
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

// Normal runs, three per method, without a difference between methods. They confirm Differ's comment on the bootstrap
// and the coverage of Student's interval. With 2000 trials, the standard error of a share of 0.95 is 0.005, and 0.01
// for a share of 0.2.
func TestThreeRunsAreTooFewForTheBootstrap(t *testing.T) {
	const trials, seeds, reps = 2000, 3, 200
	r := rng.New(1, "stats/few")
	var student, bootstrap, both float64
	for range trials {
		x, y := normals(r, seeds), normals(r, seeds)
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

// Expected values are from R's fisher.test(alternative = "greater").
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
