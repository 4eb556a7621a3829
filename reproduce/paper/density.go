// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"math"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/viz"
)

// RewardTrial is a method on a task, trained on a reward ("dense" or "sparse"): starred tasks are trained on the sparse one
// unless told otherwise, the others on the dense one.
func RewardTrial(t Task, method, reward string) Trial {
	trial := Trial{Task: t.ID, Method: method}
	if (reward == "sparse") != t.Star {
		trial.Set = []string{"task.reward=" + reward}
	}
	return trial
}

// DenseAndSparse puts, for every task of the table, what methods score when trained on the dense reward beside what they
// score when trained on the sparse one and the published number, with a sentence on which the published one is nearer to.
// Columns are one method after the other.
func DenseAndSparse(st *results.Store, budget string, methods ...string) (viz.Table, error) {
	runs, err := measured(st, budget)
	if err != nil {
		return viz.Table{}, err
	}
	t := viz.Table{Title: "Trained on the dense and on the sparse reward, and published", Header: []string{"task"},
		Notes: []string{"Mean over seeds and bootstrap 95 % interval of the last evaluation, on the benchmark's own dense reward. Budget " + budget + "."}}
	for _, method := range methods {
		m, err := FindMethod(method)
		if err != nil {
			return viz.Table{}, err
		}
		t.Header = append(t.Header, m.Name+" dense", "sparse", "published", "")
	}
	for j, task := range Tasks {
		if task.Suite != VMAS {
			continue
		}
		row := []string{task.Name}
		for _, method := range methods {
			m := mustMethod(method)
			dense, sparse := RewardTrial(task, m.ID, "dense"), RewardTrial(task, m.ID, "sparse")
			x, y := runs.scores(dense), runs.scores(sparse)
			published := Sota.cell(m.Name, j).Value
			row = append(row, estimate(x, task.Decimals), estimate(y, task.Decimals), viz.Fixed(published, task.Decimals), nearer(x, y, published))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// cell is the one of a method's row and the column with this number.
func (t *Table) cell(head string, column int) Cell {
	for _, row := range t.Rows {
		if row.Head == head {
			return row.Cells[column]
		}
	}
	panic("paper: no row " + head)
}

// estimate writes a mean with its interval.
func estimate(x []float64, decimals int) string {
	if len(x) == 0 {
		return viz.Missing
	}
	i := stats.Bootstrap([][]float64{x}, stats.Mean, resamples, rng.New(0, "paper/table"))
	number := func(v float64) string { return viz.Fixed(v, decimals) }
	if math.IsNaN(i.Low) {
		return number(i.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", number(i.Value), number(i.Low), number(i.High))
}

// nearer says in words which of our two results a published number is like.
func nearer(dense, sparse []float64, published float64) string {
	if len(dense) == 0 || len(sparse) == 0 {
		return "not known yet"
	}
	d, s := mean(dense), mean(sparse)
	switch gap := math.Abs(d - s); {
	case gap < 0.05*max(math.Abs(d), math.Abs(s)):
		return "the reward makes little difference here"
	case math.Abs(published-s) < 0.25*gap:
		return "published like ours from the sparse reward"
	case math.Abs(published-d) < 0.25*gap:
		return "published like ours from the dense reward"
	case (published-s)*(published-d) < 0:
		return "published between the two"
	case math.Abs(published-d) < math.Abs(published-s):
		return "published beyond ours from the dense reward"
	}
	return "published beyond ours from the sparse reward"
}

func mean(x []float64) float64 { return stats.Mean([][]float64{x}) }
