// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"sync"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/envs/scripted"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
)

// Thresholds is the sparse return of methods as the reward is split into more and more partial rewards, task by task: at which
// number does each begin to learn?
type Thresholds struct {
	Experiments []experiment.Config
	parts       []int
	methods     []string
	tasks       []arms // [task], its list [method × parts]

	random func() ([][]float64, error) // [task][parts] that random play earns; played once
}

// thresholdEpisodes is the number of episodes of random play at each point.
const thresholdEpisodes = 240

// ThresholdsOf lists the experiments of tasks and methods, at least one, with the sparse reward in each of the given
// numbers of parts; changes are as for DensityAxis.
func ThresholdsOf(tasks, methods []string, budget string, seeds int, parts []int, changes ...string) (*Thresholds, error) {
	if len(methods) == 0 {
		return nil, errors.New("thresholds are of one method or more: name them, for example mappo, with which the others are compared")
	}
	t := &Thresholds{parts: parts, methods: methods}
	t.random = sync.OnceValues(t.playRandom)
	var lists [][]plan.Arm
	for _, name := range tasks {
		task, err := plan.FindTask(name)
		if err != nil {
			return nil, err
		}
		a := arms{task: task.ID, budget: budget, seeds: seeds}
		for _, method := range methods {
			if err := a.addParts(method, parts, changes...); err != nil {
				return nil, err
			}
		}
		t.tasks = append(t.tasks, a)
		lists = append(lists, a.list)
	}
	var err error
	t.Experiments, err = experiments(lists...)
	return t, err
}

// earned is the sparse return of the last evaluation's episodes of each run, mean over agents and episodes.
func earned(rs []*results.Record) (out []float64) {
	for _, r := range rs {
		if n := len(r.Evals); n > 0 && len(r.Evals[n-1].Sparse) > 0 {
			out = append(out, stat.Mean(r.Evals[n-1].Sparse, nil))
		}
	}
	return out
}

// playRandom is what random play earns, mean over episodes.
func (t *Thresholds) playRandom() ([][]float64, error) {
	out := make([][]float64, len(t.tasks))
	for i, a := range t.tasks {
		for _, parts := range t.parts {
			cfg, err := plan.Variant(a.task, fmt.Sprintf("milestones=%d", parts))
			if err != nil {
				return nil, err
			}
			p, err := scripted.Rollout(cfg, scripted.Random, thresholdEpisodes, 1)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], stat.Mean(p.Sparse, nil))
		}
	}
	return out, nil
}

// Plots draws a panel for each task: the sparse return of the last evaluation against the number of parts, a bar for
// each method that has runs and one for random play.
func (t *Thresholds) Plots(st *results.Store) ([]*plot.Plot, error) {
	random, err := t.random()
	if err != nil {
		return nil, err
	}
	var plots []*plot.Plot
	for i, a := range t.tasks {
		gs, err := complete(st, a.list)
		if err != nil {
			return nil, err
		}
		bars := make([]viz.Group, len(t.parts))
		for k, parts := range t.parts {
			bars[k].Label = fmt.Sprint(parts)
			bars[k].Bars = append(bars[k].Bars, viz.Bar{Label: string(scripted.Random), Value: random[i][k], Low: math.NaN(), High: math.NaN()})
			for m, method := range t.methods {
				bars[k].Bars = append(bars[k].Bars, meanBar(method, earned(gs[m*len(t.parts)+k].Runs), rng.New(0, "figures/thresholds")))
			}
		}
		p, err := viz.Bars(viz.Figure{Title: path.Base(a.task), X: "number of partial rewards, k", Y: "sparse return", Unlabelled: i > 0}, bars...)
		if err != nil {
			return nil, err
		}
		plots = append(plots, p)
	}
	for _, p := range plots { // one scale, so that panels compare
		p.Y.Max = slices.MaxFunc(plots, func(a, b *plot.Plot) int { return cmp.Compare(a.Y.Max, b.Y.Max) }).Y.Max
	}
	return plots, nil
}

// Table gives the numbers of the plots: a row for each task and method, a column for each number of parts.
func (t *Thresholds) Table(st *results.Store) (viz.Table, error) {
	out := viz.Table{Title: "Sparse return of the last evaluation by the number of partial rewards", Header: []string{"task", "method"},
		Notes: []string{"Mean over seeds with Student's 95 % interval, and the number of seeds; random play: mean of " + fmt.Sprint(thresholdEpisodes) + " episodes. A dash: no run. " +
			"The last column is the smallest number at which a method earns more than random play: by its interval where there are two seeds or more, else, as where all are equal, with a question mark."}}
	for _, parts := range t.parts {
		out.Header = append(out.Header, fmt.Sprintf("k = %d", parts))
	}
	out.Header = append(out.Header, "begins to learn at")
	random, err := t.random()
	if err != nil {
		return out, err
	}
	for i, a := range t.tasks {
		gs, err := complete(st, a.list)
		if err != nil {
			return out, err
		}
		row := []string{path.Base(a.task), string(scripted.Random)}
		for _, chance := range random[i] {
			row = append(row, fmt.Sprintf("%.3g", chance))
		}
		out.Rows = append(out.Rows, append(row, viz.Missing))
		for m, method := range t.methods {
			row, all := []string{path.Base(a.task), paper.DisplayName(method)}, make([][]float64, len(t.parts))
			for k := range t.parts {
				all[k] = earned(gs[m*len(t.parts)+k].Runs)
				row = append(row, overSeeds(all[k]))
			}
			out.Rows = append(out.Rows, append(row, begins(t.parts, all, random[i])))
		}
	}
	return out, nil
}

// displayNames are the printed names of several methods.
func displayNames(methods []string) []string {
	out := make([]string, len(methods))
	for i, method := range methods {
		out[i] = paper.DisplayName(method)
	}
	return out
}

// Differences compares each method with the first of them wherever both have runs that can be tested.
func (t *Thresholds) Differences(st *results.Store) (viz.Table, error) {
	first := paper.DisplayName(t.methods[0])
	d := paper.NewDifferences("What methods earn beyond "+first, "the sparse return", "task", "k", "method")
	for _, a := range t.tasks {
		gs, err := complete(st, a.list)
		if err != nil {
			return viz.Table{}, err
		}
		for k, parts := range t.parts {
			here := make([][]float64, len(t.methods))
			for m := range here {
				here[m] = earned(gs[m*len(t.parts)+k].Runs)
			}
			d.AddEach(here, displayNames(t.methods), path.Base(a.task), fmt.Sprint(parts))
		}
	}
	return d.Table(), nil
}

// begins is the smallest number of parts at which runs earn more than random play does: by Student's interval over
// seeds, or, with a question mark, by one run alone or several that are equal.
func begins(parts []int, earned [][]float64, chance []float64) string {
	for k, values := range earned {
		switch e := stats.Student(values); {
		case len(values) == 0 || e.Value <= chance[k]:
		case math.IsNaN(e.Low): // of one run, or of equal ones
			return fmt.Sprintf("%d?", parts[k])
		case e.Excludes(chance[k]):
			return fmt.Sprint(parts[k])
		}
	}
	return viz.Missing
}
