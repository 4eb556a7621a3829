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

// Score names the one measure that is not a scalar: the mean score of each evaluation.
const Score = ""

// Training draws one panel per measure, for each separately trained group of agents. A panel has one line per group
// of runs, and there is a legend for all. The group of the run in front is drawn heavy, the others thin. front may be a
// run without results yet.
func Training(front *results.Record, gs []results.Group, columns int, measures ...Measure) (Panels, error) {
	gs = slices.Clone(gs)
	// A setting keeps its colour when another comes to the front.
	slices.SortStableFunc(gs, func(a, b results.Group) int { return cmp.Compare(a.Label, b.Label) })
	return training(front, gs, columns, measures, func(_ results.Group, s Series) Series { return s })
}

// Dashboard draws Training again and again while runs are added. A group keeps its colour from its first picture on.
// Beside the run in front and its parent, the latest groups have a colour, the earlier ones are grey.
type Dashboard struct {
	columns  int
	measures []Measure
	seen     []string           // IDs of runs in the order of their first picture
	colours  [len(spare)]string // the run that has each colour
}

// NewDashboard makes a dashboard of one panel per measure.
func NewDashboard(columns int, measures ...Measure) *Dashboard {
	return &Dashboard{columns: columns, measures: measures}
}

// Draw is the picture of front and the groups around it.
func (d *Dashboard) Draw(front *results.Record, gs []results.Group) (Panels, error) {
	for _, r := range results.Flat(gs) {
		if !slices.Contains(d.seen, r.ID) {
			d.seen = append(d.seen, r.ID)
		}
	}
	first := func(g results.Group) int {
		return slices.IndexFunc(d.seen, func(id string) bool { return has(g, id) })
	}
	gs = slices.SortedFunc(slices.Values(gs), func(a, b results.Group) int { return first(a) - first(b) })
	parent, _ := front.Fork()
	rank := func(g results.Group) int { // the run in front, its parent, then the latest
		switch {
		case has(g, front.ID):
			return -2
		case has(g, parent):
			return -1
		}
		return len(d.seen) - first(g)
	}
	latest := slices.SortedStableFunc(slices.Values(gs), func(a, b results.Group) int { return rank(a) - rank(b) })
	latest = latest[:min(len(latest), len(spare))]
	for k, id := range d.colours {
		if !slices.ContainsFunc(latest, func(g results.Group) bool { return has(g, id) }) {
			d.colours[k] = ""
		}
	}
	colour := func(g results.Group) int {
		return slices.IndexFunc(d.colours[:], func(id string) bool { return has(g, id) })
	}
	for _, g := range latest {
		if len(g.Runs) > 0 && colour(g) < 0 {
			d.colours[slices.Index(d.colours[:], "")] = g.Runs[0].ID
		}
	}
	return training(front, gs, d.columns, d.measures, func(g results.Group, s Series) Series {
		if k := colour(g); k >= 0 {
			s.color = &spare[k]
			return s
		}
		return s.Muted()
	})
}

// has reports whether a group has a run.
func has(g results.Group, id string) bool {
	return slices.ContainsFunc(g.Runs, func(r *results.Record) bool { return r.ID == id })
}

// training draws groups in their order, each as look changes it.
func training(front *results.Record, gs []results.Group, columns int, measures []Measure,
	look func(results.Group, Series) Series) (Panels, error) {
	gs = slices.DeleteFunc(gs, func(g results.Group) bool { return g.Label == "" })
	all := results.Flat(gs)
	var charts []Chart
	last := 0.0
	for _, m := range ofGroups(all, measures) {
		of := scalar(m.Name)
		if m.Name == Score {
			of = evals(results.Eval.Score)
		}
		series := make([]Series, len(gs))
		for k, g := range gs {
			s := seriesOf(g, all, of) // without a line, it keeps the place of its colour
			s.Faint = !has(g, front.ID)
			last = max(last, slices.Max(append(s.X, 0)))
			series[k] = look(g, s)
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
