// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// PathsTable measures the properties that the paper reads off its figure of s_t and x_t. All episodes are embedded by
// one encoder. Distances are in units of the spread of all episodes' s_t, the root of their mean squared distance from
// their mean.
func PathsTable(episodes ...*results.Trace) viz.Table {
	t := viz.Table{Header: []string{"", "steps", "score", "steps with a visible peer",
		"s_t to the nearest of a peer's path", "s_t to a peer's at the same step", "x_t to s_t", "s_{t+1} to s_t",
		"x_t nearer to the path's end than s_t", "r^i with a visible peer", "r^i without"},
		Notes: []string{"One episode each: these describe the pictures and estimate nothing. " +
			"x_t counts as where its decoder puts it among the s_t."}}
	unit := spread(episodes)
	mean := func(v []float64) float64 { return stat.Mean(v, nil) }
	for _, in := range episodes {
		p := pathsOf(in)
		row := []string{in.Method, fmt.Sprint(in.Steps), fmt.Sprintf("%.3g", in.Score), percent(mean(p.met))}
		for _, distances := range [][]float64{p.nearest, p.apart, p.off, p.moved} {
			row = append(row, number(mean(distances)/unit))
		}
		row = append(row, percent(mean(p.ahead)), number(mean(p.bonusSeen)), number(mean(p.bonusAlone)))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// paths are measures of the agent steps of an episode.
type paths struct {
	met                   []float64 // 1 with another agent in sight
	nearest, apart        []float64 // distance of s_t to the nearest s of another agent at any step, and to others' s_t
	off, moved            []float64 // distance of ŝ_{t+1} and of s_{t+1} to s_t
	ahead                 []float64 // 1 where ŝ_{t+1} is nearer to the last s than s_t is
	bonusSeen, bonusAlone []float64 // r^i
}

func pathsOf(in *results.Trace) (p paths) {
	add := func(to *[]float64, v float64) { *to = append(*to, v) }
	for t := range in.Steps {
		for i := range in.Agents {
			row := in.Row(t, i)
			s, end := in.Embed[row], in.Embed[in.Row(in.Steps-1, i)]
			add(&p.nearest, nearest(in, row))
			for j := range in.Agents {
				if j != i {
					add(&p.apart, floats.Distance(s, in.Embed[in.Row(t, j)], 2))
				}
			}
			if len(in.Predicted) > 0 {
				add(&p.off, floats.Distance(in.Predicted[row], s, 2))
			}
			if t+1 < in.Steps {
				add(&p.moved, floats.Distance(in.Embed[in.Row(t+1, i)], s, 2))
				if len(in.Predicted) > 0 {
					add(&p.ahead, one(floats.Distance(in.Predicted[row], end, 2) < floats.Distance(s, end, 2)))
				}
			}
			sees := in.Sees(t, i)
			add(&p.met, one(sees))
			if sees {
				add(&p.bonusSeen, in.Bonus[row])
			} else {
				add(&p.bonusAlone, in.Bonus[row])
			}
		}
	}
	return p
}

// nearest is the distance of an agent step's s to the nearest of all other agents'.
func nearest(in *results.Trace, row int) float64 {
	least := math.Inf(1)
	for other, s := range in.Embed {
		if other%in.Agents != row%in.Agents {
			least = min(least, floats.Distance(in.Embed[row], s, 2))
		}
	}
	return least
}

// spread is the root of the mean squared distance of all s_t from their mean: that of the summed variances.
func spread(episodes []*results.Trace) float64 {
	sum, values := 0.0, make([]float64, 0)
	for k := range episodes[0].Embed[0] {
		values = values[:0]
		for _, in := range episodes {
			for _, s := range in.Embed {
				values = append(values, s[k])
			}
		}
		sum += stat.PopVariance(values, nil)
	}
	return math.Sqrt(sum)
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// episodeBlocks are the parts of an episode that EpisodeFading compares, half of them early.
const episodeBlocks = 10

// EpisodeFading tests whether r^i falls over an episode, as the paper says of Balance*: the early half of each trace
// against its late half. Blocks of steps are compared, since neighbouring steps are alike; a trace of fewer steps than
// blocks has no test.
func EpisodeFading(traces ...*results.Trace) viz.Table {
	t := viz.Table{Title: "Does r^i fall over the episode?",
		Header: []string{"task", "method", "steps", "early r^i", "late r^i", "early − late", "p"},
		Notes: []string{fmt.Sprintf("One episode a row. Means over agents of %d blocks of steps, "+
			"the early half against the late one: difference with Welch's 95 %% interval, and its p, of one comparison.",
			episodeBlocks)}}
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

// TrainingFading shows how the mean r^i of each method's runs on a task falls over training. The paper does not
// report this.
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
	t.Rows, err = each(methods, func(method string) ([]string, error) {
		g, err := runs.Runs(paper.Trial{Task: found.ID, Method: method})
		falls := valuesOf(g, func(r *results.Record) float64 { return tenths(r.Scalars["cermic/int_mean"]) })
		return []string{paper.DisplayName(method), overSeeds(falls)}, err
	})
	return t, err
}

// tenths is the mean over the first tenth of points less that over the last, NaN of fewer than ten.
func tenths(points results.Points) float64 {
	var falls []float64
	for i := range len(points) / 10 {
		falls = append(falls, points[i].Value-points[len(points)-1-i].Value)
	}
	return stat.Mean(falls, nil)
}
