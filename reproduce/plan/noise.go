// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"path"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/viz"
)

// NoiseGrid lists the experiments of methods on tasks without, and then with, a noise box. The settings in knobs are for those of the
// methods that have CERMIC's module.
func NoiseGrid(tasks, methods []string, budget string, seeds int, box, knobs []string) ([]run.Experiment, error) {
	var es []run.Experiment
	for _, settings := range [][]string{nil, box} {
		for _, method := range methods {
			own, err := ofCermic(method, knobs)
			if err != nil {
				return nil, err
			}
			some, err := Grid(tasks, []string{method}, budget, seeds, slices.Concat(settings, own)...)
			if err != nil {
				return nil, err
			}
			es = append(es, some...)
		}
	}
	return es, nil
}

// ofCermic is knobs for a method that has CERMIC's module, nothing for others.
func ofCermic(method string, knobs []string) ([]string, error) {
	m, err := FindMethod(method)
	if err != nil || m.Explore.Kind() != (cermic.Config{}).Kind() {
		return nil, err
	}
	return knobs, nil
}

// NoiseCurves draws the learning curves of NoiseGrid, a row a task, on one scale within a row: the runs of the store that are
// complete.
func NoiseCurves(st *results.Store, tasks, methods []string, budget string, seeds int, box, knobs []string) (viz.Panels, error) {
	var rows [][]*plot.Plot
	for _, task := range tasks {
		known, err := FindTask(task)
		if err != nil {
			return viz.Panels{}, err
		}
		var row []*plot.Plot
		low, high := math.Inf(1), math.Inf(-1)
		for i, settings := range [][]string{nil, box} {
			var records []*results.Record
			for _, method := range methods {
				own, err := ofCermic(method, knobs)
				if err != nil {
					return viz.Panels{}, err
				}
				found, err := stored(st, task, method, budget, seeds, slices.Concat(settings, own))
				if err != nil {
					return viz.Panels{}, err
				}
				records = append(records, found...)
			}
			title := path.Base(task) + []string{", calm", ", with the noise box"}[i]
			p, err := viz.Curves(viz.Figure{Title: title, X: "frames", Y: known.Score()}, viz.Evals(records)...)
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
