// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs"
	"cermic/envs/rng"
	"cermic/viz"
)

// playedEpisodes of play without learning stand beside a run's last evaluation, which has as many.
const playedEpisodes = 60

// Endings says how every named method's runs with its own settings ended, one column a task: the mean over seeds of the last
// evaluation with its bootstrap 95 % interval, under what random and scripted play earn. BenchMARL's recorded runs, trained on the
// dense reward, close the table of that one.
func Endings(st *results.Store, tasks []string, budget, reward string) (viz.Table, error) {
	t := viz.Table{Title: "How they end", Header: []string{""}, Rows: [][]string{{"random play"}, {"script"}},
		Notes: []string{"Mean over seeds of the last evaluation, bootstrap 95 % interval over seeds, number of seeds; intervals of very few seeds are too narrow. " +
			"°: not surely above random play. Trained on the " + reward + " reward, budget " + budget + "."}}
	for _, m := range Methods() {
		t.Rows = append(t.Rows, []string{m.ID})
	}
	if reward == "dense" {
		for _, learner := range recordedLearners {
			t.Rows = append(t.Rows, []string{"BenchMARL " + learner})
		}
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
		t.Header = append(t.Header, task.Name)
		chance, played, err := unlearned(task.ID)
		if err != nil {
			return t, err
		}
		trained := TrainedOn(all, reward)
		for i, row := range t.Rows {
			var cell string
			if learner, ok := strings.CutPrefix(row[0], "BenchMARL "); ok {
				rs, _ := results.BenchMARL(learner, task.ID) // of most tasks there are none
				cell = ending(rs, chance)
			} else if i < len(played) {
				cell = played[i]
			} else {
				own := slices.DeleteFunc(slices.Clone(trained), func(r *results.Record) bool { return r.Method != row[0] })
				cell = ending(own, chance)
			}
			t.Rows[i] = append(row, cell)
		}
	}
	return t, nil
}

// unlearned is the mean score of random play on a task, and how it and the script's are shown.
func unlearned(task string) (chance float64, shown [2]string, err error) {
	cfg, err := envs.Default(task)
	if err != nil {
		return 0, shown, err
	}
	chance, script, err := playedMeans(cfg, playedEpisodes, 1)
	return chance, [2]string{number(chance), number(script)}, err
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
	if low := min(i.Value, i.Low); low <= chance || len(rs) == 1 {
		mark = "°"
	}
	return spanned(i) + mark + " × " + number(float64(len(rs)))
}
