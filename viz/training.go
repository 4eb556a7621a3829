// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
)

// Measure is something that a run writes down while it trains.
type Measure struct {
	Name  string // of a scalar, or Score
	Title string // in the figure
}

// Score names the measure that is no scalar: the mean score of each evaluation.
const Score = ""

// Training draws one panel a measure, for each group of agents that is trained apart, with one line a method, and a legend for all: the run in front, and those that it
// is to be compared with thin behind it. front may be a run without results yet, and it may be among the others, where an
// older state of it can lie.
func Training(front *results.Record, others []*results.Record, columns int, measures ...Measure) (Panels, error) {
	p := NewPanels(columns)
	p.Width, p.Height = vg.Length(9.3/float64(columns))*vg.Inch, 2.2*vg.Inch
	rs := slices.DeleteFunc(slices.Clone(others), func(r *results.Record) bool { return r.ID == front.ID })
	rs = append(rs, front)
	// A setting keeps its colour when another comes to the front.
	slices.SortStableFunc(rs, func(a, b *results.Record) int { return cmp.Compare(a.Method, b.Method) })
	for _, r := range rs {
		if r.Method != "" && !slices.Contains(p.Legend, r.Method) {
			p.Legend = append(p.Legend, r.Method)
		}
	}
	for i, m := range ofGroups(rs, measures) {
		lines := Scalar(rs, m.Name)
		if m.Name == Score {
			lines = Evals(rs)
		}
		series := make([]Series, len(p.Legend)) // one a method, also where it is empty: its place gives its colour
		for k, label := range p.Legend {
			series[k].Label = label
			if j := slices.IndexFunc(lines, func(s Series) bool { return s.Label == label }); j >= 0 {
				series[k] = lines[j]
			}
			series[k].Faint = label != front.Method
		}
		plot, err := Curves(Figure{Title: m.Title, X: "frames", Unlabelled: true}, series...)
		if err != nil {
			return p, fmt.Errorf("%s: %w", m.Title, err)
		}
		if i%columns == 0 {
			p.Rows = append(p.Rows, nil)
		}
		p.Rows[len(p.Rows)-1] = append(p.Rows[len(p.Rows)-1], plot)
	}
	return p, nil
}
