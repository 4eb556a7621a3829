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
	rows, runs := finalRows(reward), plan.At(st, budget)
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{row.name})
	}
	for _, name := range tasks {
		task, err := plan.FindTask(name)
		if err != nil {
			return t, err
		}
		e := finalColumn{task: task.ID}
		if e.chance, e.script, _, err = plan.Anchors(task.ID); err != nil {
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

// finalColumn is what a column of FinalScores is made of.
type finalColumn struct {
	task           string
	chance, script float64 // mean scores of play without learning
}

// finalRow is a row of FinalScores.
type finalRow struct {
	name string
	cell func(finalColumn, *plan.Archive) (string, error)
}

// finalRows are play without learning, every method that the paper's tables show and, beside runs on the dense reward,
// BenchMARL's.
func finalRows(reward string) []finalRow {
	rows := []finalRow{
		{"random play", func(e finalColumn, _ *plan.Archive) (string, error) { return number(e.chance), nil }},
		{"script", func(e finalColumn, _ *plan.Archive) (string, error) { return number(e.script), nil }},
	}
	for _, m := range cermiclib.Methods() {
		if !paper.InTables(m.ID) {
			continue
		}
		rows = append(rows, finalRow{m.ID, func(e finalColumn, runs *plan.Archive) (string, error) {
			g, err := runs.Runs(paper.Trial{Task: e.task, Method: m.ID, Set: []string{"task.reward=" + reward}})
			if err != nil {
				return "", err
			}
			return finalScore(g, e.chance)
		}})
	}
	if reward != "dense" {
		return rows
	}
	for _, learner := range recordedLearners {
		rows = append(rows, finalRow{"BenchMARL " + learner, func(e finalColumn, _ *plan.Archive) (string, error) {
			rs, _ := export.BenchMARL(learner, e.task) // of most tasks there are none
			return finalScore(results.Group{Runs: rs}, e.chance)
		}})
	}
	return rows
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
