// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Report is a printed result: cells as text, one row per case.
type Report struct {
	Title  string
	Header []string
	Rows   [][]string
	Notes  []string
}

// WriteCSV writes the header and the rows.
func (t *Report) WriteCSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(append([][]string{t.Header}, t.Rows...))
}

// Case is one row of the Theorem 1 table: an MDP, whose largest feature has length Norm, and a regularisation.
type Case struct {
	Features     string
	Lambda, Norm float64
	Env          *MDP
}

// Cases returns the six reference cases: 6 states, horizon 8, with λ and ‖η‖ on both sides of the missing condition.
func Cases(seed uint64) ([]Case, error) {
	var cases []Case
	for _, v := range []struct{ lambda, norm float64 }{{1, 1}, {0.5, 1}, {0.2, 1}, {0.1, 1}, {1, 2}} {
		m, err := Chain(6, 8, v.norm)
		if err != nil {
			return nil, err
		}
		cases = append(cases, Case{"one-hot", v.lambda, v.norm, m})
	}
	m, err := Simplex(6, 2, 5, 8, seed)
	if err != nil {
		return nil, err
	}
	return append(cases, Case{"simplex", 1, m.MaxNorm(), m}), nil
}

// Theorem1Table runs every case with settings, whose Lambda is replaced by the case's. Violations with λ below ‖η‖²/x*
// are the finding and are printed; one above it would contradict the proof and is returned as an error, together with the
// table, so that a command can print it and fail.
func Theorem1Table(cases []Case, settings LSVI) (*Report, error) {
	table := &Report{
		Title: fmt.Sprintf("Theorem 1 on linear MDPs: %d episodes, bonus %s, ζ = %g, c = %d, seed %d",
			settings.Episodes, settings.Bonus, settings.Zeta, settings.Output, settings.Seed),
		Header: []string{"features", "lambda", "norm", "safe_lambda", "max_x", "min_ratio", "max_ratio", "visits", "violations",
			"first_visits", "bonus_1", "bonus_10", "bonus_100", "bonus_last"},
		Notes: []string{
			"ratio: r^i/(ρ·r^ucb); Theorem 1 allows 1 to √2 = 1.4142, and holds for certain when λ ≥ safe_lambda = ‖η‖²/2.5129.",
			"first_visits: visits to a state-action pair that no earlier episode made at that step. bonus_k: mean bonus in episode k.",
		},
	}
	var wrong error
	for _, c := range cases {
		l := settings
		l.Lambda = c.Lambda
		trace, err := l.Run(c.Env)
		if err != nil {
			return nil, err
		}
		wrong = errors.Join(wrong, trace.Check())
		table.Rows = append(table.Rows, row(c, trace))
	}
	return table, wrong
}

func row(c Case, t *Trace) []string {
	low, high := t.Ratios()
	cells := []string{c.Features, short(c.Lambda), short(c.Norm)}
	for _, v := range []float64{SafeLambda(c.Norm), t.MaxX(), low, high} {
		cells = append(cells, fmt.Sprintf("%.4f", v))
	}
	for _, n := range []int{len(t.X), t.Violations(), t.FirstVisits()} {
		cells = append(cells, strconv.Itoa(n))
	}
	for _, k := range []int{1, 10, 100, len(t.MeanBonus)} {
		if k > len(t.MeanBonus) {
			cells = append(cells, "")
			continue
		}
		cells = append(cells, fmt.Sprintf("%.3f", t.MeanBonus[k-1]))
	}
	return cells
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
			"* lower bound above, or upper bound below, the true information by more than " + short(Tolerance) + ".",
		},
	}
	for _, p := range pairs {
		b, err := p.Estimate()
		if err != nil {
			return nil, err
		}
		cells := []string{string(p.Squash), strconv.Itoa(p.Negatives), short(p.Noise), short(p.Information)}
		violated := b.Violated(p.Information)
		for i, v := range []float64{b.MainLower, b.AppendixLower, b.SoundLower, b.MainUpper, b.AppendixUpper, b.ContrastUpper} {
			mark := ""
			if violated[i] {
				mark = "*"
			}
			cells = append(cells, fmt.Sprintf("%.3f%s", v, mark))
		}
		table.Rows = append(table.Rows, cells)
	}
	return table, nil
}

// Pairs returns the reference rows: sigmoid and unbounded critics with 16 and 128 negatives, softmax with 16, and noise
// negatives of four sizes. Estimating all of them takes about a minute.
func Pairs() []Pair {
	var pairs []Pair
	add := func(squash Squash, negatives int, noise float64, informations ...float64) {
		for _, information := range informations {
			p := DefaultPair(information)
			p.Squash, p.Negatives, p.Noise = squash, negatives, noise
			pairs = append(pairs, p)
		}
	}
	add(Sigmoid, 16, 0, 0, 0.1, 0.25, 0.5, 1, 2, 4, 8)
	add(Sigmoid, 128, 0, 0, 0.5, 2, 4, 8)
	add(Softmax, 16, 0, 0.5, 8)
	add(Unbounded, 16, 0, 0.25, 0.5, 1, 2, 4, 8)
	add(Unbounded, 128, 0, 4)
	for _, noise := range []float64{0.1, 0.5, 1, 2} {
		add(Sigmoid, 16, noise, 0, 0.5, 2, 8)
	}
	return pairs
}
