// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Linspace returns n ≥ 2 evenly spaced numbers from low to high.
func Linspace(low, high float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*float64(i)/float64(n-1)
	}
	return x
}

// each is f of every x.
func each(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

// Sandwich is Theorem 1 over x: the reward between its two bounds, until it leaves them at Root.
type Sandwich struct {
	X, Lower, Reward, Upper []float64 // ρ·r^ucb, r^i, √2·ρ·r^ucb
}

// SandwichBand evaluates the theorem at every x for c outputs; ζ cancels.
func SandwichBand(x []float64, c int) Sandwich {
	lower := func(v float64) float64 { return rho(c, 1) * ucbBonus(v, 1) }
	reward := func(v float64) float64 { return intrinsicReward(v, c) }
	upper := func(v float64) float64 { return math.Sqrt2 * lower(v) }
	return Sandwich{x, each(x, lower), each(x, reward), each(x, upper)}
}

// Violations relates ‖η‖²/λ to how often, and how far, an LSVI run leaves the sandwich.
type Violations struct {
	Scale                   []float64 // ‖η‖²/λ
	MinRatio                []float64 // smallest r^i/(ρ·r^ucb); below 1 is a violation
	Violations, FirstVisits []float64 // numbers of visits
}

// ViolationScan runs settings on m once per scale, with λ = ‖η‖²max/scale.
func ViolationScan(m *MDP, settings LSVI, scales []float64) (Violations, error) {
	v := Violations{Scale: scales}
	for _, scale := range scales {
		l := settings
		l.Lambda = m.maxNorm() * m.maxNorm() / scale
		t, err := l.run(m)
		if err != nil {
			return v, err
		}
		low, _ := t.ratios(l)
		v.MinRatio = append(v.MinRatio, low)
		v.Violations = append(v.Violations, float64(t.violations()))
		v.FirstVisits = append(v.FirstVisits, float64(t.firstVisits()))
	}
	return v, nil
}

// Learning is one LSVI run as curves over its episodes [K].
type Learning struct {
	Bonus      bonus
	Zeta       float64
	MeanBonus  []float64
	Cumulative []float64 // regret so far
}

// LearningCurves runs settings on m with r^ucb for every ζ and then with r^i, which has no ζ, each with every seed.
// These are the data of the bonus-decay and of the regret figure.
func LearningCurves(m *MDP, settings LSVI, zetas []float64, seeds []uint64) ([]Learning, error) {
	var all []LSVI
	settings.Bonus = UCB
	for _, settings.Zeta = range zetas {
		all = append(all, settings)
	}
	settings.Bonus = Information
	var curves []Learning
	for _, l := range append(all, settings) {
		for _, l.Seed = range seeds {
			t, err := l.run(m)
			if err != nil {
				return nil, err
			}
			cumulative := floats.CumSum(make([]float64, len(t.regret)), t.regret)
			curves = append(curves, Learning{l.Bonus, l.Zeta, t.meanBonus, cumulative})
		}
	}
	return curves, nil
}

// Surprises holds how often the realised surprise leaves the band that Theorem 1 allows for its mean.
type Surprises struct {
	Output              int       // c
	X                   []float64 // > 0
	Outside, SampledOut []float64 // probability of leaving the band: exact, and among the draws
}

// SurpriseCurve evaluates the formula and draws at every x > 0.
func SurpriseCurve(x []float64, c, draws int, seed uint64) Surprises {
	exact := func(v float64) float64 { return outsideBand(v, c) }
	sampled := func(v float64) float64 { return outsideShare(sampleSurprise(v, c, draws, seed), v, c) }
	return Surprises{c, x, each(x, exact), each(x, sampled)}
}

// Worst is the worst-case probability of s̃ ≤ b, in closed form and by search.
type Worst struct {
	Set               Ambiguity
	B, Closed, Search []float64 // B in standard deviations of Ψ
}

// WorstCurve evaluates both at every b, the search on points × points moments.
func WorstCurve(a Ambiguity, b []float64, points int) Worst {
	return Worst{a, b, each(b, a.worstCase), each(b, func(v float64) float64 { return a.search(v, points) })}
}

// Multipliers is β over the chance level ε, beside the multiplier that suffices for a Gaussian Ψ.
type Multipliers struct {
	Set                   Ambiguity
	Epsilon, Beta, Enough []float64
}

// MultiplierCurve evaluates β at every ε in (0, 1).
func MultiplierCurve(a Ambiguity, epsilon []float64) Multipliers {
	gaussian := func(e float64) float64 { return distuv.UnitNormal.Quantile(1 - e) }
	return Multipliers{a, epsilon, each(epsilon, a.Multiplier), each(epsilon, gaussian)}
}

// Informations is the six estimates over the true mutual information, all in nats.
type Informations struct {
	Information []float64    // [I]
	Estimates   [6][]float64 // [estimator, I], in the order of Bounds
}

// InformationCurve estimates the six bounds at every true mutual information, with the other settings of proto.
func InformationCurve(proto Pair, informations []float64) (Informations, error) {
	v := Informations{Information: informations}
	for _, proto.Information = range informations {
		b, err := proto.estimate()
		if err != nil {
			return v, err
		}
		for k, estimate := range b {
			v.Estimates[k] = append(v.Estimates[k], estimate)
		}
	}
	return v, nil
}

// Report is a printed result: cells as text, one row per case.
type Report struct {
	Title  string
	Header []string
	Rows   [][]string
	Notes  []string
}

// referenceCase is one row of the Theorem 1 table: an MDP with the name of its features, and a regularisation.
type referenceCase struct {
	features string
	lambda   float64
	env      *MDP
}

// Cases returns the six reference cases: 6 states, horizon 8, with λ and ‖η‖ on both sides of the missing condition.
func Cases(seed uint64) ([]referenceCase, error) {
	var cases []referenceCase
	for _, v := range []struct{ lambda, norm float64 }{{1, 1}, {0.5, 1}, {0.2, 1}, {0.1, 1}, {1, 2}} {
		m, err := Chain(6, 8, v.norm)
		if err != nil {
			return nil, err
		}
		cases = append(cases, referenceCase{"one-hot", v.lambda, m})
	}
	return append(cases, referenceCase{"simplex", 1, simplex(6, 2, 5, 8, seed)}), nil
}

// Theorem1Table runs every case with settings, whose Lambda is replaced by the case's. Violations with λ below ‖η‖²/x*
// are the finding and are printed.
func Theorem1Table(cases []referenceCase, settings LSVI) (*Report, error) {
	table := &Report{
		Title: fmt.Sprintf("Theorem 1 on linear MDPs: %d episodes, bonus %s, ζ = %g, c = %d, seed %d",
			settings.Episodes, settings.Bonus, settings.Zeta, settings.Output, settings.Seed),
		Header: []string{"features", "lambda", "norm", "safe lambda", "max x", "min ratio", "max ratio", "visits",
			"violations", "first visits", "bonus 1", "bonus 10", "bonus 100", "bonus last"},
		Notes: []string{
			"ratio: r^i/(ρ·r^ucb); Theorem 1 allows 1 to √2 = 1.4142, and holds for certain when λ ≥ safe lambda = ‖η‖²/2.5129.",
			"first visits: visits to a state-action pair that no earlier episode made at that step. " +
				"bonus k: mean bonus in episode k.",
		},
	}
	for _, c := range cases {
		l, norm := settings, c.env.maxNorm()
		l.Lambda = c.lambda
		t, err := l.run(c.env)
		if err != nil {
			return nil, err
		}
		low, high := t.ratios(l)
		row := []string{c.features, short(c.lambda), short(norm)}
		for _, v := range []float64{safeLambda(norm), floats.Max(t.x), low, high} {
			row = append(row, fmt.Sprintf("%.4f", v))
		}
		row = append(row, strconv.Itoa(len(t.x)), strconv.Itoa(t.violations()), strconv.Itoa(t.firstVisits()))
		for _, k := range []int{1, 10, 100, len(t.meanBonus)} {
			cell := ""
			if k <= len(t.meanBonus) {
				cell = fmt.Sprintf("%.3f", t.meanBonus[k-1])
			}
			row = append(row, cell)
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// short prints v with at most four significant digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// InformationTable estimates the six bounds for every pair and marks each that lies on the wrong side with an asterisk.
func InformationTable(pairs []Pair) (*Report, error) {
	table := &Report{
		Title:  "Bounds on mutual information, in nats",
		Header: []string{"squash", "negatives", "noise", "information", "Lm", "La", "Lr", "Um", "Ua", "Uc"},
		Notes: []string{
			"Lm, Um: main text as printed. La, Ua: appendix. Lr: with log(N+1) and the positive in the sum. " +
				"Uc: contrastive difference.",
			"* lower bound above, or upper bound below, the true information by more than " + short(tolerance) + ".",
		},
	}
	for _, p := range pairs {
		b, err := p.estimate()
		if err != nil {
			return nil, err
		}
		row := []string{string(p.Squash), strconv.Itoa(p.Negatives), short(p.Noise), short(p.Information)}
		for k, violated := range b.violated(p.Information) {
			cell := fmt.Sprintf("%.3f", b[k])
			if violated {
				cell += "*"
			}
			row = append(row, cell)
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}
