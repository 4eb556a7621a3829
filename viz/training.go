// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
)

// Measure is a quantity that a run records while it trains.
type Measure struct {
	Name  string // of a scalar, or Score
	Title string // in the figure
}

// Score names the measure that is no scalar: the mean score of each evaluation.
const Score = ""

// Training draws one panel per measure, for each separately trained group of agents. A panel has one line per group
// of runs, and there is a legend for all. The group of the run in front is drawn heavy, the others thin. Of more than
// five groups, only its own, its parent's and those with a complete run keep colour and name. front may be a run
// without results yet.
func Training(front *results.Record, gs []results.Group, columns int, measures ...Measure) (Panels, error) {
	gs = slices.DeleteFunc(slices.Clone(gs), func(g results.Group) bool { return g.Label == "" })
	// A setting keeps its colour when another comes to the front.
	slices.SortStableFunc(gs, func(a, b results.Group) int { return cmp.Compare(a.Label, b.Label) })
	parent, _ := front.Fork()
	muted := func(series []Series) []Series {
		for k, g := range gs {
			if len(gs) > 5 && !slices.ContainsFunc(g.Runs, func(r *results.Record) bool {
				return r.ID == front.ID || r.ID == parent || r.Complete
			}) {
				series[k] = series[k].Muted()
			}
		}
		return series
	}
	var charts []Chart
	last := 0.0
	for _, m := range ofGroups(results.Flat(gs), measures) {
		lines := Scalar(gs, m.Name)
		if m.Name == Score {
			lines = Evals(gs)
		}
		series := perGroup(gs, lines)
		for k, g := range gs {
			series[k].Faint = !slices.ContainsFunc(g.Runs, func(r *results.Record) bool { return r.ID == front.ID })
			last = max(last, slices.Max(append(series[k].X, 0)))
		}
		charts = append(charts, Chart{Figure{Title: m.Title, X: "frames", Unlabelled: true}, muted(series)})
	}
	p, err := CurvePanels(columns, charts...)
	p.Width, p.Height = vg.Length(7.6/float64(columns))*vg.Inch, 2.2*vg.Inch
	p.Legend = slices.DeleteFunc(Looks(muted(perGroup(gs, nil))...), func(s Style) bool { return s.Name == "" })
	for _, plot := range slices.Concat(p.Rows...) {
		plot.X.Max = max(plot.X.Max, last) // evaluations are rare, and all panels have one axis
	}
	return p, err
}

// perGroup is one series a group: that of lines with its label, or an empty one, which keeps the place of its colour.
func perGroup(gs []results.Group, lines []Series) []Series {
	out := make([]Series, len(gs))
	for k, g := range gs {
		out[k] = seriesOf(g)
		if i := slices.IndexFunc(lines, func(s Series) bool { return s.Label == g.Label }); i >= 0 {
			out[k] = lines[i]
		}
	}
	return out
}
