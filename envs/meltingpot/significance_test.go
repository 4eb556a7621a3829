// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// significance is the probability that one of these tests fails although nothing is wrong. Seeds are fixed, so each
// test is deterministic.
const significance = 1e-4

// binomial is a two-sided test of whether hits in draws fit probability p. If the probabilities differ with mean p,
// the variance is smaller than assumed, and false failures are even rarer.
func binomial(t *testing.T, what string, hits, draws, p float64) {
	t.Helper()
	if draws == 0 || p == 0 && hits > 0 {
		t.Errorf("%s: %.0f of %.0f with probability %g", what, hits, draws, p)
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

// homogeneous tests whether two tables of counts come from one distribution; names maps recorded keys to ours.
func homogeneous(t *testing.T, what string, ours, theirs map[string]float64, names map[string]string) {
	t.Helper()
	if len(theirs) == 0 {
		return // the substrate does not have this rule
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

// passes tests a sum of squares, which is approximately χ² with classes−1 degrees of freedom.
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
