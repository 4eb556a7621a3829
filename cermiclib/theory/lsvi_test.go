// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

func TestSandwichHoldsExactlyUpToTheRoot(t *testing.T) {
	root := Root()
	near(t, "x*", root, 2.512862, 5e-7) // published with six decimals
	near(t, "log(1+x*) − x*/2", math.Log1p(root)-root/2, 0, 1e-15)
	for _, x := range Linspace(0, 40, 4001) {
		if Violates(x) != (x > root) {
			t.Errorf("Violates(%g) = %v, and x* = %g", x, Violates(x), root)
		}
	}
	near(t, "ratio at x = 1", Ratio(1), math.Sqrt(2*math.Ln2), 1e-15)
}

func TestRatioIsRewardOverScaledBonusForAnySize(t *testing.T) {
	for _, x := range []float64{1e-9, 0.3, 2, 7} {
		for _, zeta := range []float64{0.1, 3} {
			near(t, "ratio", intrinsicReward(x, 5)/(rho(5, zeta)*ucbBonus(x, zeta)), Ratio(x), 1e-14)
		}
	}
}

// 300 updates of a matrix with entries near 1 leave relative errors near 300·2⁻⁵³.
func TestShermanMorrisonTracksTheInverse(t *testing.T) {
	m := simplex(6, 2, 5, 8, 7)
	const lambda = 0.3
	g := newStage(m, lambda)
	gram := mat.NewSymDense(m.Dims, nil)
	for i := range m.Dims {
		gram.SetSym(i, i, lambda)
	}
	r := rng.New(1, "test")
	for range 300 {
		pair := r.IntN(m.States * m.Actions)
		g.observe(m, pair, 0)
		gram.SymRankOne(gram, 1, mat.NewVecDense(m.Dims, m.Feature[pair*m.Dims:][:m.Dims]))
	}
	var direct, difference mat.Dense
	must.Do(t, direct.Inverse(gram))
	difference.Sub(&direct, g.inverse)
	near(t, "largest difference", mat.Norm(&difference, math.Inf(1)), 0, 1e-11)
}

// Deterministic columns: with one-hot features, the largest x is the x of a first visit, ‖η‖²/λ. The smallest ratio is
// the ratio there, and in the first episode every visit is a first one. Violations are then the pairs that are ever
// visited. These are 55 of the 66 reachable ones, in each of 20 seeds and in an independent implementation with other
// random numbers. Statistical columns depend on when the learner first reaches the far end. Their bounds are the least
// and the largest of 20 seeds, widened by a tenth, and contain the published values.
func TestReferenceTableIsReproduced(t *testing.T) {
	type span struct{ low, high float64 }
	for _, c := range []struct {
		lambda, norm, maxX, ratio, first float64
		violations                       int
		tenth, hundredth, last           span
	}{
		{1, 1, 1, 1.1774, 0.500, 0, span{0.164, 0.207}, span{0.080, 0.189}, span{0.013, 0.041}},
		{0.5, 1, 2, 1.0481, 0.707, 0, span{0.199, 0.362}, span{0.095, 0.189}, span{0.013, 0.048}},
		{0.2, 1, 5, 0.8466, 1.118, 55, span{0.209, 0.615}, span{0.058, 0.499}, span{0.013, 0.052}},
		{0.1, 1, 10, 0.6925, 1.581, 55, span{0.234, 0.673}, span{0.061, 0.180}, span{0.013, 0.054}},
		{1, 2, 4, 0.8971, 1.000, 55, span{0.201, 0.345}, span{0.061, 0.136}, span{0.013, 0.050}},
	} {
		l := DefaultLSVI()
		l.Lambda = c.lambda
		trace := must.Value(l.run(must.Value(Chain(6, 8, c.norm))))
		low, high := trace.ratios(l)
		near(t, "largest x", slices.Max(trace.x), c.maxX, 1e-12)
		near(t, "smallest ratio", low, c.ratio, 5e-5) // printed with four decimals
		near(t, "largest ratio", high, 1.4140, 5e-5)  // √(2·log(1+x)/x) at x ≈ 1/1500
		near(t, "mean bonus of episode 1", trace.meanBonus[0], c.first, 5e-4)
		for k, s := range []span{9: c.tenth, 99: c.hundredth, 1499: c.last} {
			if v := trace.meanBonus[k]; s.high > 0 && (v < s.low || v > s.high) {
				t.Errorf("λ = %g, ‖η‖ = %g: mean bonus of episode %d is %g, want %g to %g", c.lambda, c.norm, k+1, v, s.low, s.high)
			}
		}
		if n := trace.violations(); n != c.violations {
			t.Errorf("λ = %g, ‖η‖ = %g: %d violations, want %d", c.lambda, c.norm, n, c.violations)
		}
	}
}

func TestSandwichHoldsWheneverLambdaIsSafe(t *testing.T) {
	for _, m := range []*MDP{must.Value(Chain(6, 8, 1)), must.Value(Chain(6, 8, 2)), simplex(6, 2, 5, 8, 2)} {
		for _, bonus := range []bonus{UCB, Information} {
			l := DefaultLSVI()
			l.Episodes, l.Bonus, l.Lambda = 300, bonus, safeLambda(m.maxNorm())
			if n := must.Value(l.run(m)).violations(); n != 0 {
				t.Errorf("%d states, bonus %s: %d violations, want none", m.States, bonus, n)
			}
		}
	}
}

// With ζ → 0 the learner never leaves the 0.01, which makes its regret exact: 1500·(1.5754 − 0.06). Otherwise the
// bounds are the least and the largest of 20 seeds, widened by a tenth. They are widened by 1 % for ζ = 0.5, where
// nothing is found. They contain the published values.
func TestRegretFallsWithOptimismAsInTheReference(t *testing.T) {
	m := must.Value(Chain(5, 6, 1))
	curves := must.Value(LearningCurves(m, DefaultLSVI(), []float64{1e-4, 0.5, 1, 2}, []uint64{0, 1, 2}))
	want := map[float64]struct{ low, high, last float64 }{
		1e-4: {2273, 2273.2, 1.516}, 0.5: {1404, 1440, 0.915}, 1: {470, 795, 0.001}, 2: {252, 334, 0.037},
	}
	for _, c := range curves[:12] {
		total, w := c.Cumulative[1499], want[c.Zeta]
		last := (total - c.Cumulative[1399]) / 100
		if total < w.low || total > w.high || last > w.last {
			t.Errorf("ζ = %g: regret %g, last hundred %g a piece; want %g to %g, at most %g",
				c.Zeta, total, last, w.low, w.high, w.last)
		}
	}
	for _, c := range curves[12:] {
		if c.Bonus != Information || c.Cumulative[1499] > 515 || c.Cumulative[1499]-c.Cumulative[1399] > 3 {
			t.Errorf("bonus %s: regret %g, want the optimum found as with ζ ≥ 1", c.Bonus, c.Cumulative[1499])
		}
	}
}

func TestRunDependsOnItsSeedAlone(t *testing.T) {
	m, l := must.Value(Chain(6, 8, 1)), DefaultLSVI()
	l.Episodes = 50
	a, b := must.Value(l.run(m)), must.Value(l.run(m))
	l.Seed = 1
	c := must.Value(l.run(m))
	if !slices.Equal(a.x, b.x) || slices.Equal(a.x, c.x) {
		t.Error("want equal visits for equal seeds and others for another seed")
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	for _, change := range []func(*LSVI){func(l *LSVI) { l.Lambda = 0 }, func(l *LSVI) { l.Zeta = math.NaN() }, func(l *LSVI) { l.Episodes = 0 },
		func(l *LSVI) { l.Output = 0 }, func(l *LSVI) { l.Bonus = "ucv" }} {
		l := DefaultLSVI()
		change(&l)
		if _, err := l.run(must.Value(Chain(2, 2, 1))); err == nil {
			t.Errorf("%+v ran", l)
		}
	}
	if _, err := Chain(1, 8, 1); err == nil {
		t.Error("a chain of one state was accepted")
	}
	if _, err := Chain(6, 8, math.NaN()); err == nil {
		t.Error("features without a length were accepted")
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g ± %g", what, got, want, tolerance)
	}
}

func square(v float64) float64 { return v * v }

// With one step to go only the rewards count: 0.01 on the left, 1 on the right. With two, going right from the left end
// gives 0.9·1 + 0.1·0.01.
func TestOptimalValueOfShortestChainIsTheHandComputedOne(t *testing.T) {
	near(t, "V* over one step", must.Value(Chain(2, 1, 1)).optimal(), 0.01, 0)
	near(t, "V* over two steps", must.Value(Chain(2, 2, 1)).optimal(), 0.901, 1e-15)
	left := func(_, _ int, q []float64) float64 { return q[0] }
	near(t, "always left", must.Value(Chain(5, 6, 1)).value(left), 0.06, 1e-15)
	near(t, "V* of the reference chain", must.Value(Chain(5, 6, 1)).optimal(), 1.575, 5e-4) // published with three decimals
}

// In a linear MDP the rows of P and r lie in the span of the features, so regressing on them leaves no residual. The
// simplex MDP has 12 pairs and 5 dimensions, so an arbitrary matrix would leave one.
func TestTransitionsAndRewardsAreLinearInTheFeatures(t *testing.T) {
	for _, m := range []*MDP{must.Value(Chain(6, 8, 2)), simplex(6, 2, 5, 8, 3)} {
		pairs := m.States * m.Actions
		eta := mat.NewDense(pairs, m.Dims, m.Feature)
		targets := mat.NewDense(pairs, m.States+1, nil)
		for pair := range pairs {
			targets.SetRow(pair, append(append([]float64{}, m.Next[pair*m.States:][:m.States]...), m.Reward[pair]))
			sum := 0.0
			for _, p := range m.Next[pair*m.States:][:m.States] {
				sum += p
			}
			near(t, "sum of P(·|s,a)", sum, 1, 1e-14)
		}
		var solution, residual mat.Dense
		must.Do(t, solution.Solve(eta, targets))
		residual.Mul(eta, &solution)
		residual.Sub(&residual, targets)
		near(t, "largest residual", mat.Norm(&residual, math.Inf(1)), 0, 1e-12)
	}
	if norm := simplex(6, 2, 5, 8, 3).maxNorm(); norm > 1 {
		t.Errorf("simplex feature of length %g, want at most 1", norm)
	}
}

// A first visit has x = ‖η‖²/λ. After a visit, x' = x/(1+x) < 1 there, so that no second visit can violate.
func TestViolationsAreExactlyTheFirstVisitsWhenLambdaIsTooSmall(t *testing.T) {
	for _, c := range []struct{ lambda, norm float64 }{{0.39, 1}, {0.2, 1}, {0.1, 1}, {1, 2}} {
		l := DefaultLSVI()
		l.Lambda = c.lambda
		trace := must.Value(l.run(must.Value(Chain(6, 8, c.norm))))
		for i, x := range trace.x {
			if Violates(x) != trace.first[i] {
				t.Fatalf("λ = %g, ‖η‖ = %g, visit %d: x = %g violates: %v, first visit: %v",
					c.lambda, c.norm, i, x, Violates(x), trace.first[i])
			}
		}
	}
}
