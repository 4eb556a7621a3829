// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// paperBudget is the one with every number of the paper's Table 6, 3,000,000 frames among them.
const paperBudget = "paper"

// noPaperRuns says that there is nothing to show.
func noPaperRuns(reward string) string {
	return "No complete run at the paper's budget was trained on the " + reward + " reward: go run ./reproduce train -budget paper -set task.reward=" + reward + " trains some."
}

// otherReward is the one of the two that is not reward.
func otherReward(reward string) string {
	if reward == "dense" {
		return "sparse"
	}
	return "dense"
}

// paperRuns are the tasks with complete runs at the paper's budget, trained on a reward, of methods with their default
// settings.
func paperRuns(st *results.Store, reward string) ([]taskRuns, error) {
	list, err := defaultRuns(st, paperBudget, reward)
	return slices.DeleteFunc(list, func(t taskRuns) bool { return len(t.groups) == 0 }), err
}

// PaperBudgetCurves draws the runs at the paper's own budget that were trained on a reward, a row a task: evaluations,
// with the paper's final scores as levels, beside the return of training.
func PaperBudgetCurves(st *results.Store, reward string) (any, error) {
	list, err := paperRuns(st, reward)
	if err != nil || len(list) == 0 {
		return noPaperRuns(reward), err
	}
	for i, t := range list {
		drawn := map[float64]bool{} // variants of a method share a cell of the paper
		for _, g := range t.groups {
			cell, other, ok := paper.PrintedFor(t.task, g.Method, reward)
			if !ok || drawn[cell.Value] {
				continue
			}
			drawn[cell.Value] = true
			label := "published: " + paper.DisplayName(g.Method)
			if other {
				label += ", " + otherReward(reward)
			}
			end := float64(g.Runs[0].Frames)
			s := viz.Line(label, []float64{0, end}, []float64{cell.Value, cell.Value})
			s.Reference = true
			list[i].others = append(list[i].others, s)
		}
	}
	return returnsOf(list...)
}

// Trained is a quantity of training that a figure draws: the name of its scalar, what it shows, and what its axis says.
type Trained struct{ Scalar, About, Axis string }

// PaperBudgetTraining draws quantities of training over the runs at the paper's own budget that were trained on a reward, task by
// task and two beside each other. A quantity that no run on a task has is left out there.
func PaperBudgetTraining(st *results.Store, reward string, quantities ...Trained) (any, error) {
	list, err := paperRuns(st, reward)
	if err != nil || len(list) == 0 {
		return noPaperRuns(reward), err
	}
	var plots []*plot.Plot
	lines, drawn := 0, map[string]bool{}
	for _, t := range list {
		for _, q := range quantities {
			series := viz.Scalar(t.groups, q.Scalar)
			if len(series) == 0 {
				continue // of a method that was not trained on this task
			}
			p, err := viz.Curves(viz.Figure{Title: t.task.Name + ": " + q.About, X: "frames", Y: q.Axis}, series...)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", q.Scalar, t.task.Name, err)
			}
			plots, drawn[q.Scalar] = append(plots, p), true
		}
		lines = max(lines, len(t.groups))
	}
	for _, q := range quantities {
		if !drawn[q.Scalar] {
			first := list[0].groups[0].Runs[0]
			return nil, fmt.Errorf("no run at the paper's budget has a scalar %q; the first has %s", q.Scalar, strings.Join(slices.Sorted(maps.Keys(first.Scalars)), ", "))
		}
	}
	return rows(plots, 2, lines), nil
}

// PaperBudgetTable lists the scores of all tasks and methods with complete runs at the paper's own budget, trained on a reward,
// beside the same method's scores at a shorter budget and the published ones: how much of the gap is a matter of frames.
func PaperBudgetTable(st *results.Store, shorter, reward string) (any, error) {
	list, err := paperRuns(st, reward)
	if err != nil || len(list) == 0 {
		return noPaperRuns(reward), err
	}
	t := viz.Table{Title: "At the paper's own budget, trained on the " + reward + " reward", Header: []string{"task", "method", "budget " + shorter, "budget " + paperBudget, "difference", "published", "ours less published"},
		Notes: []string{"Mean over seeds of the last evaluation with Student's 95 % interval, and the number of seeds; the difference of the two budgets with Welch's. One seed has no interval. " +
			"°: printed for training on the " + otherReward(reward) + " reward."}}
	short := plan.At(st, shorter)
	for _, task := range list {
		for _, g := range task.groups {
			long, err := g.Scores()
			if err != nil {
				return nil, err
			}
			before, err := short.Runs(paper.RewardTrial(task.task, g.Method, reward))
			if err != nil {
				return nil, err
			}
			earlier, err := before.Scores()
			if err != nil {
				return nil, err
			}
			row := []string{task.task.Name, paper.DisplayName(g.Method), overSeeds(earlier), overSeeds(long), viz.Missing, viz.Missing, viz.Missing}
			if len(earlier) > 0 {
				row[4] = stats.Welch(long, earlier).String()
			}
			if cell, other, ok := paper.PrintedFor(task.task, g.Method, reward); ok {
				row[5], row[6] = cell.Printed(), viz.Fixed(stat.Mean(long, nil)-cell.Value, cell.Decimals)
				if other {
					row[5] += "°"
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t, nil
}
