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
	var charts []Chart
	last := 0.0
	for _, m := range ofGroups(results.Flat(gs), measures) {
		lines := Scalar(gs, m.Name)
		if m.Name == Score {
			lines = Evals(gs)
		}
		series := make([]Series, len(gs))
		for k, g := range gs {
			has := func(is func(*results.Record) bool) bool { return slices.ContainsFunc(g.Runs, is) }
			series[k] = seriesOf(g) // without a line, it keeps the place of its colour
			if i := slices.IndexFunc(lines, func(s Series) bool { return s.Label == g.Label }); i >= 0 {
				series[k] = lines[i]
			}
			series[k].Faint = !has(func(r *results.Record) bool { return r.ID == front.ID })
			last = max(last, slices.Max(append(series[k].X, 0)))
			if len(gs) > 5 && !has(func(r *results.Record) bool {
				return r.ID == front.ID || r.ID == parent || r.Complete
			}) {
				series[k] = series[k].Muted()
			}
		}
		charts = append(charts, Chart{Figure{Title: m.Title, X: "frames", Unlabelled: true}, series})
	}
	p, err := CurvePanels(columns, charts...)
	p.Width, p.Height = vg.Length(7.6/float64(columns))*vg.Inch, 2.2*vg.Inch
	for _, plot := range slices.Concat(p.Rows...) {
		plot.X.Max = max(plot.X.Max, last) // evaluations are rare, and all panels have one axis
	}
	return p, err
}
