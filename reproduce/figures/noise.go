// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/viz"
)

// Noise is a study of the effect of a noise region on methods: each method on every task, without and with the region.
type Noise struct {
	Tasks, Methods []string
	Region         []string // settings of the noise region, "task.noise.width=1"
	Set            []string // settings of the methods that have CERMIC's module
	Budget         string
	First, Seeds   int // the first seed, 1 if it is 0, and how many
}

// sweep has the methods on each task without, and then with, the noise region.
func (n Noise) sweep() (*Sweep, error) {
	points := []point{{label: "without noise"}, {label: "with the noise region", set: n.Region}}
	return (&Sweep{methods: n.Methods, first: n.First}).over(n.Tasks, n.Budget, n.Seeds, n.Set, points)
}

// Experiments lists the study's experiments, each once.
func (n Noise) Experiments() ([]experiment.Config, error) {
	s, err := n.sweep()
	return s.Experiments, err
}

// runs are the complete runs of each method on a task, without and with the noise region.
func (t sweptTask) runs(st *results.Store) ([][]results.Group, error) {
	return each(t.points, func(p point) ([]results.Group, error) { return p.runs(st) })
}

// Curves draws the learning curves of the complete runs, one row per task, on one scale within a row.
func (n Noise) Curves(st *results.Store) (viz.Panels, error) {
	s, err := n.sweep()
	if err != nil {
		return viz.Panels{}, err
	}
	rows, err := each(s.tasks, func(t sweptTask) ([]*plot.Plot, error) {
		runs, err := t.runs(st)
		if err != nil {
			return nil, err
		}
		titles := []string{t.name + ", " + t.points[0].label, t.name + ", " + t.points[1].label}
		return sideBySide(t.score, titles, runs...)
	})
	return viz.Panels{Rows: rows, Width: 4.6 * vg.Inch, Height: 2.8 * vg.Inch}, err
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
	s, err := n.sweep()
	if err != nil {
		return t, err
	}
	r := rng.New(0, "plan/noise")
	for _, task := range s.tasks {
		runs, err := task.runs(st)
		if err != nil {
			return t, err
		}
		for i, method := range n.Methods {
			a, b := runs[0][i], runs[1][i]
			before, x := lastScore(a, r)
			after, y := lastScore(b, r)
			t.Rows = append(t.Rows, []string{task.name, method, fmt.Sprintf("%d, %d", len(a.Runs), len(b.Runs)), before,
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
