// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// significance is the chance that one of these tests fails although all is right. Seeds are fixed, so each either always
// passes or never does.
const significance = 1e-4

// binomial tests whether a number of hits in so many draws fits the chance p of each, from both sides. If chances differ and p is
// their mean, hits vary less than assumed, and the test fails still more seldom.
func binomial(t *testing.T, what string, hits, draws, p float64) {
	t.Helper()
	if draws == 0 || p == 0 && hits > 0 {
		t.Errorf("%s: %.0f of %.0f where the chance is %g", what, hits, draws, p)
	}
	if draws == 0 || p == 0 {
		return
	}
	d := distuv.Binomial{N: draws, P: p}
	tail := min(1, 2*d.CDF(hits), 2*(1-d.CDF(hits-1)))
	t.Logf("%s: %.0f of %.0f, expected %.1f, p = %.3f", what, hits, draws, draws*p, tail)
	if !(tail > significance) {
		t.Errorf("%s: %.0f of %.0f, want about %.1f (p = %g)", what, hits, draws, draws*p, tail)
	}
}

// uniform tests whether counts are draws from equally likely classes.
func uniform(t *testing.T, what string, counts []float64) {
	t.Helper()
	sum, square := 0.0, 0.0
	for _, n := range counts {
		sum += n
	}
	expected := sum / float64(len(counts))
	for _, n := range counts {
		square += (n - expected) * (n - expected) / expected
	}
	passes(t, what, square, len(counts), counts)
}

// homogeneous tests whether two tables of counts are draws from one distribution; names translates recorded keys to ours.
func homogeneous(t *testing.T, what string, ours, theirs map[string]float64, names map[string]string) {
	t.Helper()
	if len(theirs) == 0 {
		return // no rule of this substrate
	}
	renamed := map[string]float64{}
	for k, v := range theirs {
		if n, ok := names[k]; ok {
			k = n
		}
		renamed[k] = v
	}
	var keys []string
	n, m := 0.0, 0.0
	for k := range sum(ours, renamed) {
		keys = append(keys, k)
		n, m = n+ours[k], m+renamed[k]
	}
	slices.Sort(keys)
	square := 0.0
	for _, k := range keys {
		both := ours[k] + renamed[k]
		a, b := both*n/(n+m), both*m/(n+m)
		square += (ours[k]-a)*(ours[k]-a)/a + (renamed[k]-b)*(renamed[k]-b)/b
	}
	passes(t, what, square, len(keys), ours, renamed)
}

// passes tests a sum of squares over classes, which is about χ² with one degree of freedom less.
func passes(t *testing.T, what string, square float64, classes int, counts ...any) {
	t.Helper()
	tail := distuv.ChiSquared{K: float64(classes - 1)}.Survival(square)
	t.Logf("%s: %d classes, p = %.3f", what, classes, tail)
	if !(tail > significance) || classes < 2 {
		t.Errorf("%s: counts %v (p = %g)", what, counts, tail)
	}
}

func sum(a, b map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, m := range []map[string]float64{a, b} {
		for k, v := range m {
			out[k] += v
		}
	}
	return out
}
