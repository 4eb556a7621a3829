// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/theory"
)

// joined are the words of a column's name: max_x.
var joined = regexp.MustCompile(`\b[a-z]{2,}(?:_[a-z0-9]+)+\b`)

// TheoryTable is a table of package theory as a notebook shows it.
func TheoryTable(t *theory.Report) Table {
	spaced := func(lines []string) (out []string) {
		for _, l := range lines {
			out = append(out, joined.ReplaceAllStringFunc(l, func(name string) string { return strings.ReplaceAll(name, "_", " ") }))
		}
		return out
	}
	return Table{Title: t.Title, Header: spaced(t.Header), Rows: t.Rows, Notes: spaced(t.Notes)}
}

// Sandwich draws Theorem 1 over x: r^i between its bounds, and where it leaves them.
func Sandwich(s theory.Sandwich) (*plot.Plot, error) {
	f := Figure{Title: "Theorem 1", X: "x, uncertainty of the visit", Y: "√nats", Marks: []Mark{{From: s.Root, Label: fmt.Sprintf("x* = %.2f", s.Root)}}}
	upper := Line("√2·ρ·r^ucb", s.X, s.Upper)
	upper.Low, upper.High = s.Lower, s.Upper
	return Curves(f, upper, Line("r^i", s.X, s.Reward), Line("ρ·r^ucb", s.X, s.Lower))
}

// Violations draws how far, and how often, runs with growing ‖η‖²/λ leave the sandwich.
func Violations(v theory.Violations) (Panels, error) {
	one, counts, first := make([]float64, len(v.Scale)), make([]float64, len(v.Scale)), make([]float64, len(v.Scale))
	for i := range v.Scale {
		one[i], counts[i], first[i] = 1, float64(v.Violations[i]), float64(v.FirstVisits[i])
	}
	mark := []Mark{{From: theory.Root(), Label: fmt.Sprintf("%.2f", theory.Root())}}
	allowed := Line("permitted", v.Scale, one)
	allowed.Reference = true
	low, err := Curves(Figure{Title: "smallest r^i/(ρ·r^ucb)", X: "‖η‖²/λ", Marks: mark}, Line("observed", v.Scale, v.MinRatio), allowed)
	if err != nil {
		return Panels{}, err
	}
	visits := Line("first visits", v.Scale, first)
	visits.Reference = true
	often, err := Curves(Figure{Title: "violations", X: "‖η‖²/λ", Marks: []Mark{{From: theory.Root()}}}, Line("observed", v.Scale, counts), visits)
	return wide(low, often), err
}

// wide are two panels with names at the ends of their lines.
func wide(plots ...*plot.Plot) Panels {
	p := NewPanels(2, plots...)
	p.Width, p.Height = 4.3*vg.Inch, 2.5*vg.Inch
	return p
}

// Learning draws the bonus of each episode and the regret so far, one line a bonus with its band over seeds. A
// point is the mean of some episodes.
func Learning(curves []theory.Learning) (Panels, error) {
	const every = 25
	var bonus, regret []Series
	at := map[string]int{}
	for _, c := range curves {
		label := fmt.Sprintf("%s, ζ = %g", c.Bonus, c.Zeta)
		switch c.Bonus {
		case theory.Information: // has no ζ
			label = "r^i"
		case theory.UCB:
			label = fmt.Sprintf("r^ucb, ζ = %g", c.Zeta)
		}
		i, known := at[label]
		if !known {
			i, at[label] = len(bonus), len(bonus)
			bonus, regret = append(bonus, Series{Label: label}), append(regret, Series{Label: label})
			for k := 0; k < len(c.MeanBonus); k += every {
				bonus[i].X = append(bonus[i].X, float64(k)+every/2.)
			}
			regret[i].X = bonus[i].X
		}
		bonus[i].Y, regret[i].Y = append(bonus[i].Y, averaged(c.MeanBonus, every)), append(regret[i].Y, averaged(c.Cumulative, every))
	}
	first, err := Curves(Figure{Title: "mean bonus of an episode", X: "episode"}, bonus...)
	if err != nil {
		return Panels{}, err
	}
	second, err := Curves(Figure{Title: "cumulative regret", X: "episode"}, regret...)
	return wide(first, second), err
}

// averaged is the mean of every so many values.
func averaged(v []float64, every int) []float64 {
	var out []float64
	for part := range slices.Chunk(v, every) {
		out = append(out, mean(part))
	}
	return out
}

// Surprise draws how often the realised surprise leaves the band that Theorem 1 allows: lines are exact, dotted ones
// sampled.
func Surprise(all ...theory.Surprises) (*plot.Plot, error) {
	var lines []Series
	for _, s := range all {
		sampled := Line("", s.X, s.SampledOut)
		sampled.Reference = true
		lines = append(lines, Line(fmt.Sprintf("c = %d", s.Output), s.X, s.Outside), sampled)
	}
	return Curves(Figure{Title: "Realised surprise outside of the band", X: "x", Y: "probability", High: 1}, lines...)
}

// WorstCase draws the least probability over the ambiguity set, in closed form and searched (dotted), with β for the chance
// level eps, and β over the chance level beside what a Gaussian needs.
func WorstCase(w theory.Worst, m theory.Multipliers, eps float64) (Panels, error) {
	beta := w.Set.Multiplier(eps)
	search := Line("", w.B, w.Search)
	search.Reference = true
	worst, err := Curves(Figure{Title: "least P(Ψ ≤ μ + b·√Σ)", X: "b", High: 1,
		Marks: []Mark{{From: beta, Label: fmt.Sprintf("β(%g) = %.2f", eps, beta)}}}, search, Line("worst case", w.B, w.Closed))
	if err != nil {
		return Panels{}, err
	}
	betas, err := Curves(Figure{Title: "multiplier over the chance level", X: "ε", Marks: []Mark{{From: m.Set.Gamma1 / m.Set.Gamma2, Label: "γ₁/γ₂"}}},
		Line("β", m.Epsilon, m.Beta), Line("Gaussian", m.Epsilon, m.Enough))
	return wide(worst, betas), err
}

// Tails draws the lower tail of several laws under Cantelli's bound, and the event that the appendix prints.
func Tails(all ...theory.Tails) (Panels, error) {
	var lower, printed []Series
	for _, t := range all {
		lower, printed = append(lower, Line(t.Law, t.Lambda, t.Lower)), append(printed, Line(t.Law, t.Lambda, t.Printed))
	}
	bound := Line("bound", all[0].Lambda, all[0].Bound)
	bound.Reference = true
	right, err := Curves(Figure{Title: "P(X ≤ −λ): below the bound", X: "λ", High: 1}, append(lower, bound)...)
	if err != nil {
		return Panels{}, err
	}
	wrong, err := Curves(Figure{Title: "P(X ≥ −λ): as printed", X: "λ", High: 1}, append(printed, bound)...)
	return wide(right, wrong), err
}

// Informations draws six estimators of a mutual information over its true value (dotted), cut off above top nats.
func Informations(title string, c theory.Informations, top float64) (*plot.Plot, error) {
	x := c.Information
	truth := Line("true I", x, x)
	truth.Reference = true
	return Curves(Figure{Title: title, X: "true I (nats)", Y: "estimate (nats)", High: top}, truth,
		Line("sound lower", x, c.SoundLower), Line("text lower", x, c.MainLower), Line("appendix lower", x, c.AppendixLower),
		Line("text upper", x, c.MainUpper), Line("appendix upper", x, c.AppendixUpper), Line("contrast", x, c.ContrastUpper))
}
