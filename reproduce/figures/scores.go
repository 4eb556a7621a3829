// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// FinalScores tabulates the final scores of every method in the paper's tables, with its own settings, one column per
// task. A score is the mean over seeds of the last evaluation with its bootstrap 95 % interval. Above them stand the
// scores of random and scripted play. For the dense reward, BenchMARL's recorded runs close the table.
func FinalScores(st *results.Store, tasks []string, budget, reward string) (viz.Table, error) {
	t := viz.Table{Title: "Final scores", Header: []string{""}, Rows: [][]string{{"random play"}, {"script"}},
		Notes: []string{"Mean over seeds of the last evaluation, bootstrap 95 % interval over seeds, number of seeds. " +
			stats.Caution + " °: not significantly above random play, by this interval or by Student's t. Trained on the " +
			reward + " reward, budget " + budget + "."}}
	learners := recordedLearners
	if reward != "dense" {
		learners = nil
	}
	var methods []string
	for _, m := range cermiclib.Methods() {
		if paper.InTables(m.ID) {
			methods, t.Rows = append(methods, m.ID), append(t.Rows, []string{m.ID})
		}
	}
	for _, learner := range learners {
		t.Rows = append(t.Rows, []string{"BenchMARL " + learner})
	}
	runs := plan.At(st, budget)
	for _, name := range tasks {
		task, err := plan.FindTask(name)
		if err != nil {
			return t, err
		}
		chance, script, _, err := plan.Anchors(task.ID)
		if err != nil {
			return t, err
		}
		groups, err := each(methods, func(method string) (results.Group, error) {
			return runs.Runs(paper.Trial{Task: task.ID, Method: method, Set: []string{"task.reward=" + reward}})
		})
		if err != nil {
			return t, err
		}
		for _, learner := range learners {
			rs, _ := export.BenchMARL(learner, task.ID) // of most tasks there are none
			groups = append(groups, results.Group{Runs: rs})
		}
		cells, err := each(groups, func(g results.Group) (string, error) { return finalScore(g, chance) })
		if err != nil {
			return t, err
		}
		t.Header = append(t.Header, task.Name)
		for i, cell := range append([]string{number(chance), number(script)}, cells...) {
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	return t, nil
}

// finalScore is the last score of runs, marked where it may be that of chance.
func finalScore(g results.Group, chance float64) (string, error) {
	scores, err := g.Scores()
	if err != nil || len(scores) == 0 {
		return viz.Missing, err
	}
	i := stats.Bootstrap([][]float64{scores}, stats.Mean, comparisonReps, rng.New(0, "plan/endings"))
	mark := ""
	if low := min(i.Low, stats.Student(scores).Low); !(low > chance) {
		mark = "°"
	}
	return i.String() + mark + " × " + number(float64(len(scores))), nil
}

// paperBudget is the one with every number of the paper's Table 6, 3,000,000 frames among them.
const paperBudget = "paper"

// paperRuns are the tasks with runs at the paper's budget, or a sentence that there are none.
func paperRuns(st *results.Store, reward string) (list []taskRuns, none string, err error) {
	list, err = defaultRuns(st, paperBudget, reward)
	list = slices.DeleteFunc(list, func(t taskRuns) bool { return len(t.groups) == 0 })
	if len(list) == 0 {
		none = "No complete run at the paper's budget was trained on the " + reward + " reward: " +
			"go run ./reproduce train -budget paper -set task.reward=" + reward + " trains some."
	}
	return list, none, err
}

// otherReward is the one of the two that is not reward.
var otherReward = map[string]string{"dense": "sparse", "sparse": "dense"}

// PaperBudgetCurves draws the runs at the paper's own budget that were trained on a reward, one row per task. A row
// shows evaluations, with the paper's final scores as levels, beside the return of training.
func PaperBudgetCurves(st *results.Store, reward string) (any, error) {
	list, none, err := paperRuns(st, reward)
	if err != nil || none != "" {
		return none, err
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
				label += ", " + otherReward[reward]
			}
			list[i].others = append(list[i].others, level(label, cell.Value, g.Runs[0].Frames))
		}
	}
	return returnsOf(list...)
}

// Trained is a training quantity for a figure: the name of its scalar, a description, and the label of its axis.
type Trained struct{ Scalar, About, Axis string }

// PaperBudgetTraining draws training quantities of the runs at the paper's own budget that were trained on a reward.
// Panels go task by task, two per row. A quantity is left out for a task on which no run has it.
func PaperBudgetTraining(st *results.Store, reward string, quantities ...Trained) (any, error) {
	list, none, err := paperRuns(st, reward)
	if err != nil || none != "" {
		return none, err
	}
	var charts []viz.Chart
	lines := 0
	for _, t := range list {
		for _, q := range quantities {
			series := viz.Scalar(t.groups, q.Scalar)
			if len(series) == 0 {
				continue // of a method that was not trained on this task
			}
			f := viz.Figure{Title: t.task.Name + ": " + q.About, X: "frames", Y: q.Axis}
			charts = append(charts, viz.Chart{Figure: f, Series: series})
		}
		lines = max(lines, len(t.groups))
	}
	panels, err := viz.CurvePanels(2, charts...)
	return sized(panels, 2, lines), err
}

// PaperBudgetTable lists the scores of all tasks and methods with complete runs at the paper's own budget, trained on
// a reward. Beside them are the same method's scores at a shorter budget and the published ones. This shows how much
// of the gap is due to the number of frames.
func PaperBudgetTable(st *results.Store, shorter, reward string) (any, error) {
	list, none, err := paperRuns(st, reward)
	if err != nil || none != "" {
		return none, err
	}
	t := viz.Table{Title: "At the paper's own budget, trained on the " + reward + " reward",
		Header: []string{"task", "method", "budget " + shorter, "budget " + paperBudget, "difference",
			"published", "ours less published"},
		Notes: []string{"Mean over seeds of the last evaluation with Student's 95 % interval, and the number of seeds; the " +
			"difference of the two budgets with Welch's. One seed has no interval. °: printed for training on the " +
			otherReward[reward] + " reward."}}
	short := plan.At(st, shorter)
	for _, task := range list {
		for _, g := range task.groups {
			before, notFound := short.Runs(paper.RewardTrial(task.task, g.Method, reward))
			long, twice := g.Scores()
			earlier, _ := before.Scores()
			if err := cmp.Or(notFound, twice); err != nil {
				return nil, err
			}
			row := []string{task.task.Name, paper.DisplayName(g.Method), overSeeds(earlier), overSeeds(long),
				viz.Missing, viz.Missing, viz.Missing}
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
