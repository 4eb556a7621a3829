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
	t := viz.Table{Title: "Final scores", Header: []string{""},
		Notes: []string{"Mean over seeds of the last evaluation, bootstrap 95 % interval over seeds, number of seeds. " + stats.Caution +
			" °: not significantly above random play, by this interval or by Student's t. Trained on the " + reward + " reward, budget " + budget + "."}}
	runs := plan.At(st, budget)
	for _, name := range tasks {
		task, err := plan.FindTask(name)
		if err != nil {
			return t, err
		}
		rows, err := finalColumn(runs, task.ID, reward)
		if err != nil {
			return t, err
		}
		t.Header = append(t.Header, task.Name)
		for i, row := range rows {
			if i == len(t.Rows) {
				t.Rows = append(t.Rows, row[:1:1])
			}
			t.Rows[i] = append(t.Rows[i], row[1])
		}
	}
	return t, nil
}

// finalColumn is a task's column of FinalScores, each cell behind the head of its row: play without learning, every method
// that the paper's tables show and, beside runs on the dense reward, BenchMARL's.
func finalColumn(runs *plan.Archive, task, reward string) (rows [][]string, err error) {
	chance, script, _, err := plan.Anchors(task)
	if err != nil {
		return nil, err
	}
	rows = [][]string{{"random play", number(chance)}, {"script", number(script)}}
	add := func(head string, g results.Group) error {
		cell, err := finalScore(g, chance)
		rows = append(rows, []string{head, cell})
		return err
	}
	for _, m := range cermiclib.Methods() {
		if !paper.InTables(m.ID) {
			continue
		}
		g, err := runs.Runs(paper.Trial{Task: task, Method: m.ID, Set: []string{"task.reward=" + reward}})
		if err == nil {
			err = add(m.ID, g)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, learner := range recordedLearners {
		if rs, _ := export.BenchMARL(learner, task); reward == "dense" { // of most tasks there are none
			if err := add("BenchMARL "+learner, results.Group{Runs: rs}); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
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
