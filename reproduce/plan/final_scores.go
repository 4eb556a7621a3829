// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// Endings says how every named method's runs with its own settings ended, one column a task: the mean over seeds of the last
// evaluation with its bootstrap 95 % interval, under what random and scripted play earn. BenchMARL's recorded runs, trained on the
// dense reward, close the table of that one.
func Endings(st *results.Store, tasks []string, budget, reward string) (viz.Table, error) {
	t := viz.Table{Title: "How they end", Header: []string{""},
		Notes: []string{"Mean over seeds of the last evaluation, bootstrap 95 % interval over seeds, number of seeds. " + stats.Caution +
			" °: not significantly above random play, by this interval or by Student's t. Trained on the " + reward + " reward, budget " + budget + "."}}
	rows, runs := endingRows(reward), At(st, budget)
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{row.name})
	}
	for _, name := range tasks {
		task, err := FindTask(name)
		if err != nil {
			return t, err
		}
		e := ended{task: task.ID}
		if e.chance, e.script, _, err = Anchors(task.ID); err != nil {
			return t, err
		}
		t.Header = append(t.Header, task.Name)
		for i, row := range rows {
			cell, err := row.cell(e, runs)
			if err != nil {
				return t, err
			}
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	return t, nil
}

// ended is what a column of Endings is made of.
type ended struct {
	task           string
	chance, script float64 // mean scores of play without learning
}

// endingRow is a row of Endings.
type endingRow struct {
	name string
	cell func(ended, *Archive) (string, error)
}

// endingRows are play without learning, every named method and, beside runs on the dense reward, BenchMARL's.
func endingRows(reward string) []endingRow {
	rows := []endingRow{
		{"random play", func(e ended, _ *Archive) (string, error) { return number(e.chance), nil }},
		{"script", func(e ended, _ *Archive) (string, error) { return number(e.script), nil }},
	}
	for _, m := range Methods() {
		rows = append(rows, endingRow{m.ID, func(e ended, runs *Archive) (string, error) {
			g, err := runs.Runs(paper.Trial{Task: e.task, Method: m.ID, Set: []string{"task.reward=" + reward}})
			if err != nil {
				return "", err
			}
			return ending(g, e.chance)
		}})
	}
	if reward != "dense" {
		return rows
	}
	for _, learner := range recordedLearners {
		rows = append(rows, endingRow{"BenchMARL " + learner, func(e ended, _ *Archive) (string, error) {
			rs, _ := results.BenchMARL(learner, e.task) // of most tasks there are none
			return ending(results.Group{Runs: rs}, e.chance)
		}})
	}
	return rows
}

// ending is the last score of runs, marked where it may be that of chance.
func ending(g results.Group, chance float64) (string, error) {
	scores, err := g.Scores()
	if err != nil || len(scores) == 0 {
		return viz.Missing, err
	}
	i := stats.Bootstrap([][]float64{scores}, stats.Mean, comparisonReps, rng.New(0, "plan/endings"))
	mark := ""
	if low := min(i.Low, stats.Student(scores).Low); low <= chance || len(scores) == 1 {
		mark = "°"
	}
	return spanned(i) + mark + " × " + number(float64(len(scores))), nil
}
