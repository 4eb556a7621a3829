// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// FinalScores says how the runs of every method that the paper's tables show, with its own settings ended, one column a
// task: the mean over seeds of the last evaluation with its bootstrap 95 % interval, under what random and scripted
// play earn. BenchMARL's recorded runs, trained on the dense reward, close the table of that one.
func FinalScores(st *results.Store, tasks []string, budget, reward string) (viz.Table, error) {
	t := viz.Table{Title: "Final scores", Header: []string{""}, Rows: [][]string{{"random play"}, {"script"}},
		Notes: []string{"Mean over seeds of the last evaluation, bootstrap 95 % interval over seeds, number of seeds. " + stats.Caution +
			" °: not significantly above random play, by this interval or by Student's t. Trained on the " + reward + " reward, budget " + budget + "."}}
	runs := plan.At(st, budget)
	var columns []func(task string) (results.Group, error) // of the further rows, what they show
	for _, m := range cermiclib.Methods() {
		if paper.InTables(m.ID) {
			t.Rows = append(t.Rows, []string{m.ID})
			columns = append(columns, func(task string) (results.Group, error) {
				return runs.Runs(paper.Trial{Task: task, Method: m.ID, Set: []string{"task.reward=" + reward}})
			})
		}
	}
	for _, learner := range recordedLearners {
		if reward == "dense" {
			t.Rows = append(t.Rows, []string{"BenchMARL " + learner})
			columns = append(columns, func(task string) (results.Group, error) {
				rs, _ := export.BenchMARL(learner, task) // of most tasks there are none
				return results.Group{Runs: rs}, nil
			})
		}
	}
	for _, name := range tasks {
		task, err := plan.FindTask(name)
		if err != nil {
			return t, err
		}
		chance, script, _, err := plan.Anchors(task.ID)
		if err != nil {
			return t, err
		}
		t.Header = append(t.Header, task.Name)
		cells := []string{number(chance), number(script)}
		for _, runs := range columns {
			g, err := runs(task.ID)
			if err != nil {
				return t, err
			}
			cell, err := finalScore(g, chance)
			if err != nil {
				return t, err
			}
			cells = append(cells, cell)
		}
		for i, cell := range cells {
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
