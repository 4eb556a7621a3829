// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"
	"path"
	"slices"

	"cermic/reproduce/plan"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/viz"
)

// NoiseGrid lists the experiments of methods on tasks without, and then with, a noise box. The settings in knobs are for those of the
// methods that have CERMIC's module.
func NoiseGrid(tasks, methods []string, budget string, seeds int, box, knobs []string) ([]experiment.Config, error) {
	var es []experiment.Config
	for _, settings := range [][]string{nil, box} {
		for _, method := range methods {
			own, err := ofCermic(method, knobs)
			if err != nil {
				return nil, err
			}
			some, err := plan.Grid(tasks, []string{method}, budget, seeds, slices.Concat(settings, own)...)
			if err != nil {
				return nil, err
			}
			es = append(es, some...)
		}
	}
	return plan.Unique(es)
}

// ofCermic is knobs for a method that has CERMIC's module, nothing for others.
func ofCermic(method string, knobs []string) ([]string, error) {
	m, err := plan.FindMethod(method)
	if err != nil || m.Explore.Kind() != (cermic.Config{}).Kind() {
		return nil, err
	}
	return knobs, nil
}

// noiseArms are the complete runs of a method on a task without, and with, the box.
func noiseArms(st *results.Store, task, method, budget string, seeds int, box, knobs []string) (arms [2]results.Group, err error) {
	own, err := ofCermic(method, knobs)
	for i, settings := range [][]string{nil, box} {
		if err == nil {
			arms[i], err = runsOf(st, task, method, budget, seeds, slices.Concat(settings, own))
		}
	}
	return arms, err
}

// NoiseCurves draws the learning curves of NoiseGrid, a row a task, on one scale within a row: the runs of the store that are
// complete.
func NoiseCurves(st *results.Store, tasks, methods []string, budget string, seeds int, box, knobs []string) (viz.Panels, error) {
	var rows [][]*plot.Plot
	for _, task := range tasks {
		known, err := plan.FindTask(task)
		if err != nil {
			return viz.Panels{}, err
		}
		var groups [2][]results.Group
		for _, method := range methods {
			arms, err := noiseArms(st, task, method, budget, seeds, box, knobs)
			if err != nil {
				return viz.Panels{}, err
			}
			for i := range arms {
				groups[i] = append(groups[i], arms[i])
			}
		}
		var row []*plot.Plot
		low, high := math.Inf(1), math.Inf(-1)
		for i, title := range []string{"without noise", "with the noise region"} {
			p, err := viz.Curves(viz.Figure{Title: path.Base(task) + ", " + title, X: "frames", Y: known.Score()}, viz.Evals(groups[i])...)
			if err != nil {
				return viz.Panels{}, err
			}
			if len(results.Flat(groups[i])) > 0 {
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

// NoiseTable compares the last evaluations of each method of NoiseGrid without and with the noise region, and the standard deviations over its seeds: the paper's
// claim is about both.
func NoiseTable(st *results.Store, tasks, methods []string, budget string, seeds int, box, knobs []string) (viz.Table, error) {
	t := viz.Table{Title: "Scores without and with the noise region", Header: []string{"task", "method", "seeds", "without", "with", "difference", "std, without", "std, with"},
		Notes: []string{"Mean over seeds of the last evaluation with its bootstrap 95 % interval. " + stats.Caution +
			" °: no significant difference, Welch's 95 % interval includes 0. Std: standard deviation over seeds, averaged over the evaluations of the second half of training. Budget " + budget + "."}}
	r := rng.New(0, "plan/noise")
	for _, task := range tasks {
		for _, method := range methods {
			arms, err := noiseArms(st, task, method, budget, seeds, box, knobs)
			if err != nil {
				return t, err
			}
			row := []string{path.Base(task), method, fmt.Sprintf("%d, %d", len(arms[0].Runs), len(arms[1].Runs))}
			var last [2][]float64
			for i, g := range arms {
				if last[i], err = g.Scores(); err != nil {
					return t, err
				}
				cell := viz.Missing
				if len(last[i]) > 0 {
					cell = withInterval(stats.Bootstrap([][]float64{last[i]}, stats.Mean, comparisonReps, r))
				}
				row = append(row, cell)
			}
			difference := viz.Missing
			if len(last[0]) > 0 && len(last[1]) > 0 {
				difference = differenceCell(last[1], last[0], r)
			}
			t.Rows = append(t.Rows, append(row, difference, number(seedDeviation(arms[0].Runs)), number(seedDeviation(arms[1].Runs))))
		}
	}
	return t, nil
}

// seedDeviation is the standard deviation over runs of their scores, averaged over the evaluations of the second half; NaN below two runs.
func seedDeviation(rs []*results.Record) float64 {
	var all average
	for k := 0; len(rs) > 1; k++ {
		var scores []float64
		for _, r := range rs {
			if k >= len(r.Evals) {
				return all.mean()
			}
			scores = append(scores, stat.Mean(r.Evals[k].Scores, nil))
		}
		if rs[0].Evals[k].Frames > rs[0].Frames/2 {
			all.add(stat.StdDev(scores, nil))
		}
	}
	return all.mean()
}

// runsOf are the complete runs of one method on one task, labelled by the method alone.
func runsOf(st *results.Store, task, method, budget string, seeds int, set []string) (results.Group, error) {
	es, err := plan.Grid([]string{task}, []string{method}, budget, seeds, set...)
	if err != nil {
		return results.Group{}, err
	}
	return plan.Arm{Label: method, Experiments: es}.Complete(st)
}
