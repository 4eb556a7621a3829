// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/viz"
)

// Endings says how every named method's runs with its own settings ended, one column a task: the mean over seeds of the last
// evaluation with its bootstrap 95 % interval, under what random and scripted play earn. BenchMARL's recorded runs, trained on the
// dense reward, close the table of that one.
func Endings(st *results.Store, tasks []string, budget, reward string) (viz.Table, error) {
	t := viz.Table{Title: "How they end", Header: []string{""},
		Notes: []string{"Mean over seeds of the last evaluation, bootstrap 95 % interval over seeds, number of seeds. " + stats.Caution +
			" °: not surely above random play, by this interval or by Student's. Trained on the " + reward + " reward, budget " + budget + "."}}
	rows := endingRows(reward)
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{row.name})
	}
	for _, name := range tasks {
		task, err := FindTask(name)
		if err != nil {
			return t, err
		}
		all, err := st.Find(results.Query{Task: task.ID, Budget: budget, Complete: true})
		if err != nil {
			return t, err
		}
		e := ended{task: task.ID, trained: TrainedOn(all, reward)}
		if e.chance, e.script, _, err = Anchors(task.ID); err != nil {
			return t, err
		}
		t.Header = append(t.Header, task.Name)
		for i, row := range rows {
			t.Rows[i] = append(t.Rows[i], row.cell(e))
		}
	}
	return t, nil
}

// ended is what a column of Endings is made of.
type ended struct {
	task           string
	chance, script float64           // mean scores of play without learning
	trained        []*results.Record // complete runs of all methods
}

// endingRow is a row of Endings.
type endingRow struct {
	name string
	cell func(ended) string
}

// endingRows are play without learning, every named method and, beside runs on the dense reward, BenchMARL's.
func endingRows(reward string) []endingRow {
	rows := []endingRow{
		{"random play", func(e ended) string { return number(e.chance) }},
		{"script", func(e ended) string { return number(e.script) }},
	}
	for _, m := range Methods() {
		rows = append(rows, endingRow{m.ID, func(e ended) string {
			own := slices.DeleteFunc(slices.Clone(e.trained), func(r *results.Record) bool { return r.Method != m.ID })
			return ending(own, e.chance)
		}})
	}
	if reward != "dense" {
		return rows
	}
	for _, learner := range recordedLearners {
		rows = append(rows, endingRow{"BenchMARL " + learner, func(e ended) string {
			rs, _ := results.BenchMARL(learner, e.task) // of most tasks there are none
			return ending(rs, e.chance)
		}})
	}
	return rows
}

// ending is the last score of runs, marked where it may be that of chance.
func ending(rs []*results.Record, chance float64) string {
	x := [][]float64{nil}
	for _, r := range rs {
		x[0] = append(x[0], r.Score())
	}
	if len(rs) == 0 {
		return viz.Missing
	}
	i := stats.Bootstrap(x, stats.Mean, comparisonReps, rng.New(0, "plan/endings"))
	mark := ""
	if low := min(i.Low, stats.Student(x[0]).Low); low <= chance || len(rs) == 1 {
		mark = "°"
	}
	return spanned(i) + mark + " × " + number(float64(len(rs)))
}
