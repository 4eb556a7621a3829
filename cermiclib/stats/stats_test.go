// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"
	"testing"

	"cermic/envs/rng"
)

// Scores of two made-up methods, [task][run]. The expected numbers in this file come from numpy 2.4.6 and scipy 1.17.1.
// Aggregates are mean(axis=1).mean(), median(mean(axis=1)) and scipy.stats.trim_mean(ravel(), 0.25). Improvement is the
// mean over tasks of scipy.stats.mannwhitneyu(a, b).statistic/(len(a)*len(b)). Intervals use 400,000 resamples of each
// task's row and numpy.percentile(…, [2.5, 97.5]).
var (
	scoresX = [][]float64{{0.31, 0.55, 0.62, 0.12, 0.91}, {1.20, 0.84, 1.05, 0.97, 1.31}, {0.00, 0.02, 0.75, 0.44, 0.10}}
	scoresY = [][]float64{{0.25, 0.55, 0.48, 0.33, 0.70}, {1.02, 0.84, 0.66, 1.10, 0.90}, {0.05, 0.02, 0.30, 0.21, 0.10}}
	ragged  = [][]float64{{1, 2, 3, 4, 5, 6, 7}, {10, 20}}
	mixed   = [][]float64{{3, 3, 9}, {15, 10, 10, 40}}
)

// near allows for the rounding of a few dozen additions in another order.
func near(got, want float64) bool { return math.Abs(got-want) < 1e-12 }

func TestAggregatesMatchScipy(t *testing.T) {
	for name, c := range map[string]struct{ got, want float64 }{
		"mean x":             {Mean(scoresX), 0.6126666666666666},
		"mean y":             {Mean(scoresY), 0.5006666666666667},
		"mean, ragged":       {Mean(ragged), 9.5},
		"median x":           {Median(scoresX), 0.502},
		"median y":           {Median(scoresY), 0.462},
		"median, ragged":     {Median(ragged), 9.5},
		"IQM x":              {IQM(scoresX), 0.6122222222222222},
		"IQM y":              {IQM(scoresY), 0.48},
		"IQM, ragged":        {IQM(ragged), 110. / 14}, // trim_mean of the first task's runs twice and the second's seven times
		"IQM of one":         {IQM([][]float64{{3}}), 3},
		"improvement":        {Improvement(scoresX, scoresY), 0.6},
		"improvement, swap":  {Improvement(scoresY, scoresX), 0.4},
		"improvement, self":  {Improvement(scoresX, scoresX), 0.5},
		"improvement, mixed": {Improvement(ragged, mixed), 0.4642857142857143},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: got %.16g, want %.16g", name, c.got, c.want)
		}
	}
	levels := []float64{-1, 0, 0.1, 0.5, 0.91, 2}
	for k, want := range []float64{1, 14. / 15, 12. / 15, 9. / 15, 4. / 15, 0} {
		if got := Profile(scoresX, levels)[k]; !near(got, want) {
			t.Errorf("above %g: got %g, want %g", levels[k], got, want)
		}
	}
}

var aggregates = map[string]func([][]float64) float64{
	"Mean": Mean, "Median": Median, "IQM": IQM,
	"Improvement": func(s [][]float64) float64 { return Improvement(s, scoresY[:len(s)]) },
	"Profile":     func(s [][]float64) float64 { return Profile(s, []float64{0.5})[0] },
}

// All tasks have equal weight, for any number of runs.
func TestTasksWeighTheSame(t *testing.T) {
	scores := [][]float64{scoresX[0][:4], scoresX[1][:4]} // of eight scores IQM leaves out exactly a quarter
	repeated := [][]float64{scores[0], slices.Repeat(scores[1], 3)}
	for name, f := range aggregates {
		if got, want := f(repeated), f(scores); !near(got, want) {
			t.Errorf("%s of a task whose runs are repeated is %g, want %g", name, got, want)
		}
	}
}

func TestNothingIsNaNAndNaNIsNeverTrimmed(t *testing.T) {
	for name, f := range aggregates {
		for _, s := range [][][]float64{nil, {}, {{}}, {{math.NaN(), 1, 2, 3, 4, 5, 6, 7}}} {
			if got := f(s); !math.IsNaN(got) {
				t.Errorf("%s of %v is %g", name, s, got)
			}
			if i := Bootstrap(s, f, 50, rng.New(1, "test")); !math.IsNaN(i.Value) || !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
				t.Errorf("interval of %s of %v is %v", name, s, i)
			}
		}
	}
}

func TestBootstrapMatchesNumpy(t *testing.T) {
	const reps = 20000
	stream := func() *rng.Rand { return rng.New(1, "test") }
	for name, c := range map[string]struct {
		got           Interval
		low, high, sd float64 // sd: standard deviation over resamples
		value         float64
	}{
		"mean x":           {Bootstrap(scoresX, Mean, reps, stream()), 0.49066667, 0.74133333, 0.0642, 0.6126666666666666},
		"IQM x":            {Bootstrap(scoresX, IQM, reps, stream()), 0.43555556, 0.77777778, 0.0889, 0.6122222222222222},
		"median x":         {Bootstrap(scoresX, Median, reps, stream()), 0.296, 0.732, 0.1148, 0.502},
		"mean x − y":       {Difference(scoresX, scoresY, Mean, reps, stream()), -0.02933333, 0.258, 0.0738, 0.112},
		"IQM x − y":        {Difference(scoresX, scoresY, IQM, reps, stream()), -0.06555556, 0.32333333, 0.1003, 0.6122222222222222 - 0.48},
		"improvement":      {BootstrapTwo(scoresX, scoresY, Improvement, reps, stream()), 0.38666667, 0.80666667, 0.1079, 0.6},
		"mean of one task": {Bootstrap(scoresX[:1], Mean, reps, stream()), 0.272, 0.732, 0.1187, 0.502},
	} {
		// Monte Carlo: a 2.5 % quantile from n draws of a normal has standard error √(p(1−p)/n)/φ(1.96) ≈ 0.019 of its
		// deviation at n = 20,000. Four of them.
		slack := 4 * 0.019 * c.sd
		if !near(c.got.Value, c.value) || math.Abs(c.got.Low-c.low) > slack || math.Abs(c.got.High-c.high) > slack {
			t.Errorf("%s: got %.4f, want %.4f in [%.4f, %.4f] within %.4f", name, c.got, c.value, c.low, c.high, slack)
		}
	}
}

func TestBootstrapMatchesAllResamplesOfThreeRuns(t *testing.T) {
	// Of the 27 equally likely resamples of {0, 1, 2}, one has the mean 0 (3.7 %) and four have 1/3 or less. So the 2.5
	// % quantile is 0 and, by symmetry, the 97.5 % quantile is 2.
	if got := Bootstrap([][]float64{{0, 1, 2}}, Mean, 5000, rng.New(3, "test")); got != (Interval{1, 0, 2}) {
		t.Errorf("got %v", got)
	}
}

func TestResamplesStayWithinTheirTask(t *testing.T) {
	seen := map[float64]bool{}
	Bootstrap(ragged, func(s [][]float64) float64 {
		if len(s) != 2 || len(s[0]) != 7 || len(s[1]) != 2 {
			t.Fatalf("resample %v has another shape", s)
		}
		for task := range s {
			for _, x := range s[task] {
				seen[x] = true
				if !slices.Contains(ragged[task], x) {
					t.Fatalf("task %d has %g of the other", task, x)
				}
			}
		}
		return 0
	}, 100, rng.New(1, "test"))
	if len(seen) != 9 {
		t.Errorf("100 resamples drew only %v", seen)
	}
}

func TestBootstrapRepeatsWithItsStream(t *testing.T) {
	one := Bootstrap(scoresX, IQM, 100, rng.New(7, "test"))
	if again := Bootstrap(scoresX, IQM, 100, rng.New(7, "test")); again != one {
		t.Errorf("got %v, then %v", one, again)
	}
	if other := Bootstrap(scoresX, IQM, 100, rng.New(8, "test")); other == one {
		t.Error("another stream draws the same resamples")
	}
	levels := []float64{0.1, 0.5, 0.9}
	bands := BootstrapEach(scoresX, func(s [][]float64) []float64 { return Profile(s, levels) }, 500, rng.New(1, "test"))
	for k, band := range bands {
		if band.Value != Profile(scoresX, levels)[k] || !(band.Low <= band.Value && band.Value <= band.High && band.Low < band.High) {
			t.Errorf("above %g: %v", levels[k], band)
		}
	}
}

func TestOneRunHasNoInterval(t *testing.T) {
	got := Bootstrap([][]float64{{1, 2, 3}, {4}}, Mean, 100, rng.New(1, "test"))
	if got.Value != 3 || !math.IsNaN(got.Low) || !math.IsNaN(got.High) || got.Excludes(100) {
		t.Errorf("got %v", got)
	}
	if i := (Interval{2, 1, 3}); i.Excludes(1) || i.Excludes(3) || !i.Excludes(0.9) || !i.Excludes(3.1) {
		t.Error("Excludes is wrong at the ends")
	}
}

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
