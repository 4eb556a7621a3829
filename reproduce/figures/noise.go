// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"
	"path"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Noise is a study of what a noise region does to methods: each on every task without and with it.
type Noise struct {
	Tasks, Methods []string
	Region         []string // settings of the noise region, "task.noise.width=1"
	Set            []string // settings of the methods that have CERMIC's module
	Budget         string
	Seeds          int // 1 to Seeds
}

// arms are the methods on a task without, and then with, the noise region.
func (n Noise) arms(task string) arms {
	a := arms{task: task, budget: n.Budget, first: 1, seeds: n.Seeds}
	for _, region := range [][]string{nil, n.Region} {
		for _, method := range n.Methods {
			a.add(method, method, slices.Concat(region, ofCERMIC(method, n.Set))...)
		}
	}
	return a
}

// Experiments lists the study's experiments, each once.
func (n Noise) Experiments() ([]experiment.Config, error) {
	var all []arms
	for _, task := range n.Tasks {
		all = append(all, n.arms(task))
	}
	return experiments(all...)
}

// Curves draws the learning curves of the complete runs, one row per task, on one scale within a row.
func (n Noise) Curves(st *results.Store) (viz.Panels, error) {
	panels := viz.Panels{Width: 4.6 * vg.Inch, Height: 2.8 * vg.Inch}
	for _, task := range n.Tasks {
		known, err := plan.FindTask(task)
		if err != nil {
			return panels, err
		}
		runs, err := n.arms(task).complete(st)
		if err != nil {
			return panels, err
		}
		titles := []string{path.Base(task) + ", without noise", path.Base(task) + ", with the noise region"}
		row, err := sideBySide(plan.Score(known), titles, runs[:len(n.Methods)], runs[len(n.Methods):])
		if err != nil {
			return panels, err
		}
		panels.Rows = append(panels.Rows, row)
	}
	return panels, nil
}

// Table compares the last evaluations of each method without and with the noise region, and the standard deviations
// over its seeds. The paper's claim is about both.
func (n Noise) Table(st *results.Store) (viz.Table, error) {
	t := viz.Table{Title: "Scores without and with the noise region",
		Header: []string{"task", "method", "seeds", "without", "with", "difference", "std, without", "std, with"},
		Notes: []string{"Mean over seeds of the last evaluation with its bootstrap 95 % interval. " + stats.Caution +
			" °: no significant difference, by the bootstrap or by Welch's 95 % interval, which one seed does not have. " +
			"Std: standard deviation over seeds, averaged over the evaluations of the second half of training. " +
			"Budget " + n.Budget + "."}}
	r := rng.New(0, "plan/noise")
	for _, task := range n.Tasks {
		runs, err := n.arms(task).complete(st)
		if err != nil {
			return t, err
		}
		for i, method := range n.Methods {
			a, b := runs[i], runs[len(n.Methods)+i]
			before, x := lastScore(a, r)
			after, y := lastScore(b, r)
			t.Rows = append(t.Rows, []string{path.Base(task), method, fmt.Sprintf("%d, %d", len(a.Runs), len(b.Runs)), before,
				after, differenceCell(y, x, r), number(seedDeviation(a.Runs)), number(seedDeviation(b.Runs))})
		}
	}
	return t, nil
}

// seedDeviation is the standard deviation over runs, a mean over the second half of training; NaN below two runs.
func seedDeviation(rs []*results.Record) float64 {
	var all []float64
	for k := 0; len(rs) > 1; k++ {
		var scores []float64
		for _, r := range rs {
			if k >= len(r.Evals) {
				return stat.Mean(all, nil)
			}
			scores = append(scores, r.Evals[k].Score())
		}
		if rs[0].Evals[k].Frames > rs[0].Frames/2 {
			all = append(all, stat.StdDev(scores, nil))
		}
	}
	return math.NaN()
}
