// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/floats"
)

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
		Header: []string{"features", "lambda", "norm", "safe lambda", "max x", "min ratio", "max ratio", "visits", "violations",
			"first visits", "bonus 1", "bonus 10", "bonus 100", "bonus last"},
		Notes: []string{
			"ratio: r^i/(ρ·r^ucb); Theorem 1 allows 1 to √2 = 1.4142, and holds for certain when λ ≥ safe lambda = ‖η‖²/2.5129.",
			"first visits: visits to a state-action pair that no earlier episode made at that step. bonus k: mean bonus in episode k.",
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
			"Lm, Um: main text as printed. La, Ua: appendix. Lr: with log(N+1) and the positive in the sum. Uc: contrastive difference.",
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
