// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/theory"
)

// TheoryTable is a table of package theory as a notebook shows it.
func TheoryTable(t *theory.Report) Table {
	return Table{Title: t.Title, Header: t.Header, Rows: t.Rows, Notes: t.Notes}
}

// sideBySide are two panels with names at the ends of their lines.
func sideBySide(left, right Chart) (Panels, error) {
	p, err := CurvePanels(2, left, right)
	p.Width, p.Height = 4.3*vg.Inch, 2.5*vg.Inch
	return p, err
}

// at is a place on the horizontal axis with a label.
func at(x float64, label string) []mark { return []mark{{From: x, Label: label}} }

// Sandwich draws Theorem 1 over x: r^i between its bounds, and where it leaves them.
func Sandwich(s theory.Sandwich) (*plot.Plot, error) {
	root := theory.Root()
	f := Figure{Title: "Theorem 1", X: "x, uncertainty of the visit", Y: "√nats"}
	f.Marks = at(root, fmt.Sprintf("x* = %.2f", root))
	upper := Line("√2·ρ·r^ucb", s.X, s.Upper)
	upper.Low, upper.High = s.Lower, s.Upper
	return Curves(f, upper, Line("r^i", s.X, s.Reward), Line("ρ·r^ucb", s.X, s.Lower))
}

// Violations draws how far, and how often, runs with growing ‖η‖²/λ leave the sandwich.
func Violations(v theory.Violations) (Panels, error) {
	root := theory.Root()
	const x = "‖η‖²/λ"
	permitted := Reference("permitted", v.Scale, slices.Repeat([]float64{1}, len(v.Scale)))
	return sideBySide(
		Chart{Figure{Title: "smallest r^i/(ρ·r^ucb)", X: x, Marks: at(root, fmt.Sprintf("%.2f", root))},
			[]Series{Line("observed", v.Scale, v.MinRatio), permitted}},
		Chart{Figure{Title: "violations", X: x, Marks: at(root, "")},
			[]Series{Line("observed", v.Scale, v.Violations), Reference("first visits", v.Scale, v.FirstVisits)}})
}

// Learning draws the bonus of each episode and the regret so far, one line a bonus with its band over seeds. A point is
// the mean of some episodes.
func Learning(curves []theory.Learning) (Panels, error) {
	const every = 25
	var bonus, regret []Series
	for _, c := range curves {
		label := "r^i" // which has no ζ
		if c.Bonus == theory.UCB {
			label = fmt.Sprintf("r^ucb, ζ = %g", c.Zeta)
		}
		i := slices.IndexFunc(bonus, func(s Series) bool { return s.Label == label })
		if i < 0 {
			i = len(bonus)
			var x []float64
			for k := 0; k < len(c.MeanBonus); k += every {
				x = append(x, float64(k)+every/2.)
			}
			bonus, regret = append(bonus, Series{Label: label, X: x}), append(regret, Series{Label: label, X: x})
		}
		bonus[i].Y = append(bonus[i].Y, averaged(c.MeanBonus, every))
		regret[i].Y = append(regret[i].Y, averaged(c.Cumulative, every))
	}
	return sideBySide(Chart{Figure{Title: "mean bonus of an episode", X: "episode"}, bonus},
		Chart{Figure{Title: "cumulative regret", X: "episode"}, regret})
}

// averaged is the mean of every so many values.
func averaged(v []float64, every int) (out []float64) {
	for part := range slices.Chunk(v, every) {
		out = append(out, stat.Mean(part, nil))
	}
	return out
}

// Surprise draws how often the realised surprise leaves the band that Theorem 1 allows: lines are exact, dotted ones
// sampled.
func Surprise(all ...theory.Surprises) (*plot.Plot, error) {
	var lines []Series
	for _, s := range all {
		lines = append(lines, Line(fmt.Sprintf("c = %d", s.Output), s.X, s.Outside), Reference("", s.X, s.SampledOut))
	}
	return Curves(Figure{Title: "Realised surprise outside of the band", X: "x", Y: "probability", High: 1}, lines...)
}

// WorstCase draws the least probability over the ambiguity set, in closed form and searched (dotted), with β for the
// chance level eps. Beside it is β over the chance level, with the multiplier that suffices for a Gaussian.
func WorstCase(w theory.Worst, m theory.Multipliers, eps float64) (Panels, error) {
	beta := w.Set.Multiplier(eps)
	chosen := at(beta, fmt.Sprintf("β(%g) = %.2f", eps, beta))
	return sideBySide(
		Chart{Figure{Title: "least P(Ψ ≤ μ + b·√Σ)", X: "b", High: 1, Marks: chosen},
			[]Series{Reference("", w.B, w.Search), Line("worst case", w.B, w.Closed)}},
		Chart{Figure{Title: "multiplier over the chance level", X: "ε", Marks: at(m.Set.Gamma1/m.Set.Gamma2, "γ₁/γ₂")},
			[]Series{Line("β", m.Epsilon, m.Beta), Line("Gaussian", m.Epsilon, m.Enough)}})
}

// Tails draws the lower tail of several laws under Cantelli's bound, and the event that the appendix prints.
func Tails(all ...theory.Tails) (Panels, error) {
	var lower, printed []Series
	for _, t := range all {
		lower, printed = append(lower, Line(t.Law, t.Lambda, t.Lower)), append(printed, Line(t.Law, t.Lambda, t.Printed))
	}
	bound := Reference("bound", all[0].Lambda, all[0].Bound)
	return sideBySide(Chart{Figure{Title: "P(X ≤ −λ): below the bound", X: "λ", High: 1}, append(lower, bound)},
		Chart{Figure{Title: "P(X ≥ −λ): as printed", X: "λ", High: 1}, append(printed, bound)})
}

// Informations draws six estimators of a mutual information over its true value (dotted), cut off above top nats.
func Informations(title string, c theory.Informations, top float64) (*plot.Plot, error) {
	x := c.Information
	lines := []Series{Reference("true I", x, x)}
	for _, e := range []struct {
		label string
		index int
	}{{"sound lower", theory.SoundLower}, {"text lower", theory.MainLower}, {"appendix lower", theory.AppendixLower},
		{"text upper", theory.MainUpper}, {"appendix upper", theory.AppendixUpper}, {"contrast", theory.ContrastUpper}} {
		lines = append(lines, Line(e.label, x, c.Estimates[e.index]))
	}
	return Curves(Figure{Title: title, X: "true I (nats)", Y: "estimate (nats)", High: top}, lines...)
}
