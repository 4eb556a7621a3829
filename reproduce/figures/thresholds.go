// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/scripted"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Thresholds is the sparse return of methods as the reward is split into more and more partial rewards, task by task: at
// which number does each begin to learn?
type Thresholds struct {
	Experiments []experiment.Config
	tasks       []sweep // over the numbers of partial rewards

	random func() ([][]float64, error) // [task][parts] that random play earns; played once
}

// thresholdEpisodes is the number of episodes of random play at each point.
const thresholdEpisodes = 240

// ThresholdsOf lists the experiments of tasks and methods, at least one of each, with the sparse reward in each of the
// given numbers of parts; changes are as for DensityAxis.
func ThresholdsOf(tasks, methods []string, budget string, seeds int, parts []int, changes ...string) (*Thresholds, error) {
	t := &Thresholds{}
	t.random = sync.OnceValues(t.playRandom)
	var all []arms
	for _, name := range tasks {
		task, err := plan.FindTask(name)
		if err != nil {
			return nil, err
		}
		s, err := newSweep(arms{task: task.ID, budget: budget, seeds: seeds}, methods, parts, changes, partsOf)
		if err != nil {
			return nil, err
		}
		t.tasks, all = append(t.tasks, s), append(all, s.arms)
	}
	var err error
	t.Experiments, err = experiments(all...)
	return t, err
}

// earned is the sparse return of the last evaluation's episodes of each run, mean over agents and episodes.
func earned(g results.Group, _ int) (out []float64, err error) {
	for _, r := range g.Runs {
		if n := len(r.Evals); n > 0 && len(r.Evals[n-1].Sparse) > 0 {
			out = append(out, stat.Mean(r.Evals[n-1].Sparse, nil))
		}
	}
	return out, nil
}

// playRandom is what random play earns, mean over episodes.
func (t *Thresholds) playRandom() ([][]float64, error) {
	return each(t.tasks, func(s sweep) ([]float64, error) {
		return each(s.values, func(parts int) (float64, error) {
			cfg, err := plan.Variant(s.task, fmt.Sprintf("milestones=%d", parts))
			if err != nil {
				return 0, err
			}
			p, err := scripted.Rollout(cfg, scripted.Random, thresholdEpisodes, 1)
			if err != nil {
				return 0, err
			}
			return stat.Mean(p.Sparse, nil), nil
		})
	})
}

// onTasks calls f with every task, the returns of random play on it, and those of methods, [method][parts][seed].
func (t *Thresholds) onTasks(st *results.Store, f func(s sweep, random []float64, all [][][]float64) error) error {
	random, err := t.random()
	if err != nil {
		return err
	}
	for i, s := range t.tasks {
		all, err := s.measure(st, earned)
		if err == nil {
			err = f(s, random[i], all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Plots draws a panel for each task: the sparse return of the last evaluation against the number of parts, a bar for
// random play and one for each method.
func (t *Thresholds) Plots(st *results.Store) (plots []*plot.Plot, err error) {
	err = t.onTasks(st, func(s sweep, random []float64, all [][][]float64) error {
		groups := s.bars(all)
		for k, chance := range random {
			bar := viz.Bar{Label: string(scripted.Random), Value: chance, Low: math.NaN(), High: math.NaN()}
			groups[k].Bars = slices.Insert(groups[k].Bars, 0, bar)
		}
		p, err := viz.Bars(viz.Figure{Title: path.Base(s.task), X: "number of partial rewards, k", Y: "sparse return",
			Unlabelled: len(plots) > 0}, groups...)
		plots = append(plots, p)
		return err
	})
	if err != nil {
		return nil, err
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
	if len(t.tasks) > 0 {
		for _, parts := range t.tasks[0].values {
			out.Header = append(out.Header, fmt.Sprintf("k = %d", parts))
		}
	}
	out.Header = append(out.Header, "begins to learn at")
	return out, t.onTasks(st, func(s sweep, random []float64, all [][][]float64) error {
		row := []string{path.Base(s.task), string(scripted.Random)}
		for _, chance := range random {
			row = append(row, fmt.Sprintf("%.3g", chance))
		}
		out.Rows = append(out.Rows, append(row, viz.Missing))
		for m, row := range s.rows(all, overSeeds) {
			row = append(slices.Insert(row, 0, path.Base(s.task)), begins(s.values, all[m], random))
			out.Rows = append(out.Rows, row)
		}
		return nil
	})
}

// Differences compares each method with the first of them wherever both have runs that can be tested.
func (t *Thresholds) Differences(st *results.Store) (viz.Table, error) {
	d := paper.NewDifferences("What methods earn beyond "+paper.DisplayName(t.tasks[0].methods[0]), "the sparse return", "task", "k", "method")
	for _, s := range t.tasks {
		all, err := s.measure(st, earned)
		if err != nil {
			return viz.Table{}, err
		}
		s.compare(d, all, path.Base(s.task))
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
