// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"path"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// NoiseCurves draws the learning curves of methods without and with a noise box, a row a task: the runs of the store that are
// complete, with the same changed settings, on one scale within a row. A panel without runs stays empty.
func NoiseCurves(st *results.Store, tasks, methods []string, budget string, seeds int, box, set []string) (viz.Panels, error) {
	var rows [][]*plot.Plot
	for _, task := range tasks {
		var row []*plot.Plot
		low, high := math.Inf(1), math.Inf(-1)
		for i, settings := range [][]string{set, slices.Concat(box, set)} {
			var records []*results.Record
			for _, method := range methods {
				found, err := stored(st, task, method, budget, seeds, settings)
				if err != nil {
					return viz.Panels{}, err
				}
				records = append(records, found...)
			}
			title := path.Base(task) + []string{", calm", ", with the noise box"}[i]
			p, err := viz.Curves(viz.Figure{Title: title, X: "frames", Y: "score"}, viz.Evals(records)...)
			if err != nil {
				return viz.Panels{}, err
			}
			if len(records) > 0 {
				low, high = min(low, p.Y.Min), max(high, p.Y.Max)
			}
			row = append(row, p)
		}
		for _, p := range row {
			if low < high {
				p.Y.Min, p.Y.Max = low, high
			}
		}
		rows = append(rows, row)
	}
	return viz.Panels{Rows: rows, Width: 4.6 * vg.Inch, Height: 2.8 * vg.Inch}, nil
}

// stored are the complete runs of one method on one task, labelled by the method alone.
func stored(st *results.Store, task, method, budget string, seeds int, set []string) ([]*results.Record, error) {
	es, err := Grid([]string{task}, []string{method}, budget, seeds, set...)
	if err != nil {
		return nil, err
	}
	return arm{method, es}.complete(st)
}
