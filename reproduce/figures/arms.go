// SPDX-License-Identifier: Apache-2.0

// Package figures draws the figures and tables of the notebooks from the runs in a store. Package plan lists what can
// be trained. Here arms, each a method with its settings, are compared on tasks.
package figures

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// comparisonReps is the number of resamples behind each interval: plenty for two digits.
const comparisonReps = 2000

// arms are the experiments that a figure compares on one task, in the order of its lines.
type arms struct {
	task, budget string // the task with its settings behind it
	first, seeds int    // so many seeds from first on
	list         []plan.Arm
	err          error // the first of add
}

// add lists the experiments of a method with some settings under a label.
func (a *arms) add(label, method string, set ...string) {
	arm := plan.Arm{Label: label}
	e, err := plan.New(plan.In(plan.Request{Task: a.task, Method: method, Budget: a.budget, Set: set}))
	if a.err == nil {
		a.err = err
	}
	for i := range a.seeds {
		e.Seed = uint64(a.first + i)
		arm.Experiments = append(arm.Experiments, e)
	}
	a.list = append(a.list, arm)
}

// experiments lists the experiments of all arms, each once.
func experiments(all ...arms) (es []experiment.Config, err error) {
	for _, a := range all {
		if a.err != nil {
			return nil, a.err
		}
		for _, arm := range a.list {
			es = append(es, arm.Experiments...)
		}
	}
	return plan.Unique(es)
}

// complete are the complete runs of each arm. An arm without runs keeps an empty group, so that the colours of the
// others stay the same.
func (a arms) complete(st *results.Store) ([]results.Group, error) {
	if a.err != nil {
		return nil, a.err
	}
	return each(a.list, func(a plan.Arm) (results.Group, error) { return a.Complete(st) })
}

// each applies f to every element and stops at the first error.
func each[T, U any](in []T, f func(T) (U, error)) (out []U, err error) {
	for _, v := range in {
		u, err := f(v)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// sideBySide draws the evaluations of lists of groups on one task, a panel each, on one scale.
func sideBySide(score string, titles []string, gs ...[]results.Group) ([]*plot.Plot, error) {
	var plots []*plot.Plot
	for i, title := range titles {
		p, err := viz.Curves(viz.Figure{Title: title, X: "frames", Y: score}, viz.Evals(gs[i])...)
		if err != nil {
			return nil, err
		}
		plots = append(plots, p)
	}
	viz.SameAxes(plots...)
	return plots, nil
}

// lastScore writes the mean last score of a checked group with its bootstrap 95 % interval, and returns the scores.
func lastScore(g results.Group, r *rng.Rand) (cell string, scores []float64) {
	if scores, _ = g.Scores(); len(scores) == 0 {
		return viz.Missing, nil
	}
	return stats.Bootstrap([][]float64{scores}, stats.Mean, comparisonReps, r).String(), scores
}

// overSeeds writes the mean of seeds with Student's 95 % interval, and their number; a dash without any.
func overSeeds(values []float64) string {
	if len(values) == 0 {
		return viz.Missing
	}
	return fmt.Sprintf("%s (%d)", stats.Student(values), len(values))
}

// differenceCell writes the difference of two means, with ° if it is not significant, a dash if either has no runs.
func differenceCell(x, y []float64, r *rng.Rand) string {
	if len(x) == 0 || len(y) == 0 {
		return viz.Missing
	}
	d := stats.Difference([][]float64{x}, [][]float64{y}, stats.Mean, comparisonReps, r)
	if stats.Differ(x, y, d) {
		return d.String()
	}
	return d.String() + "°"
}

// valuesOf are the values that runs have, one per seed, without NaN.
func valuesOf(g results.Group, of func(*results.Record) float64) (out []float64) {
	for _, r := range g.Runs {
		if v := of(r); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// last is the last evaluation of a run, an empty one without any.
func last(r *results.Record) results.Eval {
	if len(r.Evals) == 0 {
		return results.Eval{}
	}
	return r.Evals[len(r.Evals)-1]
}

// lastSuccess is the share of successful episodes in the last evaluation, NaN where a task defines no success.
func lastSuccess(r *results.Record) float64 { return stat.Mean(last(r).Success, nil) }

// number is three digits, or a dash where nothing was averaged.
func number(v float64) string { return written("%.3g", v) }

// percent is a share in whole percent, or a dash where nothing was averaged.
func percent(v float64) string { return written("%.0f %%", 100*v) }

func written(format string, v float64) string {
	if math.IsNaN(v) {
		return viz.Missing
	}
	return fmt.Sprintf(format, v)
}
