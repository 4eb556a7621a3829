// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// episodeBlocks are the parts of an episode that EpisodeFading compares, half of them early.
const episodeBlocks = 10

// EpisodeFading tests whether r^i falls over an episode, as the paper says of Balance*: the early half of each trace
// against its late half. Blocks of steps are compared, since neighbouring steps are alike; a trace of fewer steps than
// blocks has no test.
func EpisodeFading(traces ...*results.Trace) viz.Table {
	t := viz.Table{Title: "Does r^i fall over the episode?",
		Header: []string{"task", "method", "steps", "early r^i", "late r^i", "early − late", "p"},
		Notes: []string{fmt.Sprintf("One episode a row. Means over agents of %d blocks of steps, the early half against the late one: "+
			"difference with Welch's 95 %% interval, and its p, of one comparison.", episodeBlocks)}}
	for _, in := range traces {
		var halves [2][]float64
		for b := range episodeBlocks {
			from, to := b*in.Steps/episodeBlocks*in.Agents, (b+1)*in.Steps/episodeBlocks*in.Agents
			if from < to {
				halves[2*b/episodeBlocks] = append(halves[2*b/episodeBlocks], stat.Mean(in.Bonus[from:to], nil))
			}
		}
		early, late := stat.Mean(halves[0], nil), stat.Mean(halves[1], nil)
		row := []string{in.Task, in.Method, fmt.Sprint(in.Steps), number(early), number(late), viz.Missing, viz.Missing}
		if in.Steps >= episodeBlocks {
			difference, p := stats.Contrast(halves[:], []float64{1, -1})
			row[5], row[6] = difference.String(), fmt.Sprintf("%.2g", p)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// TrainingFading says how the mean r^i of each method's runs on a task falls over training, which the paper says
// nothing of.
func TrainingFading(st *results.Store, task, budget string, methods ...string) (viz.Table, error) {
	t := viz.Table{Title: "Does r^i fall over training?",
		Header: []string{"method", "mean r^i over the first − the last tenth of training"},
		Notes: []string{"A measurement of ours: the paper's figure is about one episode. " +
			"Mean over seeds with Student's 95 % interval, and the number of seeds. Budget " + budget + "."}}
	found, err := plan.FindTask(task)
	if err != nil {
		return t, err
	}
	runs := plan.At(st, budget)
	for _, method := range methods {
		g, err := runs.Runs(paper.Trial{Task: found.ID, Method: method})
		if err != nil {
			return t, err
		}
		falls := valuesOf(g, func(r *results.Record) float64 { return tenths(r.Scalars["cermic/int_mean"]) })
		t.Rows = append(t.Rows, []string{paper.DisplayName(method), overSeeds(falls)})
	}
	return t, nil
}

// tenths is the mean over the first tenth of points less that over the last, NaN of fewer than ten.
func tenths(points results.Points) float64 {
	var falls []float64
	for i := range len(points) / 10 {
		falls = append(falls, points[i].Value-points[len(points)-1-i].Value)
	}
	return stat.Mean(falls, nil)
}
