// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"math"
	"strings"

	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/viz"
)

// RewardTrial is a method on a task, trained on a reward ("dense" or "sparse"): starred tasks are trained on the sparse
// one unless set otherwise, the others on the dense one.
func RewardTrial(t Task, method, reward string) Trial {
	trial := Trial{Task: t.ID, Method: method}
	if (reward == "sparse") != t.Star {
		trial.Set = []string{"task.reward=" + reward}
	}
	return trial
}

// PrintedFor finds what the paper prints for a method on a task, trained on a reward: in Table 1 or, of a starred
// task's dense reward, in Table 4. Where it prints a number for the other reward alone, that is the cell and other is
// true; ok is false where it prints none. A method that follows the paper's letter has the number of its base.
func PrintedFor(task Task, method, reward string) (cell Cell, other, ok bool) {
	m, err := FindMethod(strings.TrimSuffix(method, literalSuffix))
	if err != nil {
		return Cell{}, false, false
	}
	for _, t := range []*Benchmark{Sota, Density} {
		if cell, ok := t.of(RewardTrial(task, m.ID, reward)); ok {
			return cell, false, true
		}
	}
	cell, ok = Sota.of(Trial{Task: task.ID, Method: m.ID})
	return cell, ok, ok
}

// DenseAndSparse puts, for every task of a suite, what methods score when trained on the dense reward beside what they
// score when trained on the sparse one and the published number, with a sentence on which the published one is nearer
// to. Columns are one method after the other; changes, each "key=value" as for -set, are of CERMIC's runs.
func DenseAndSparse(src Source, suite Suite, methods []string, changes ...string) (viz.Table, error) {
	runs := asked{src: src}
	t := viz.Table{Title: "Trained on the dense and on the sparse reward, and published", Header: []string{"task"}, Notes: densityNotes(src.Budget(), suite, changes)}
	for _, method := range methods {
		m, err := FindMethod(method)
		if err != nil {
			return viz.Table{}, err
		}
		t.Header = append(t.Header, m.Name+" dense", "sparse", "published", "")
	}
	for j, task := range Tasks {
		if task.Suite != suite {
			continue
		}
		row := []string{task.Abbreviation}
		for _, method := range methods {
			m := mustMethod(method)
			scores := func(reward string) []float64 {
				trial := RewardTrial(task, m.ID, reward)
				if m.Group == Ours {
					trial.Set = append(trial.Set, changes...)
				}
				return runs.scores(trial)
			}
			x, y := scores("dense"), scores("sparse")
			published := Sota.cell(m.Name, j).Value
			row = append(row, estimate(x, task.Decimals), estimate(y, task.Decimals), viz.Fixed(published, task.Decimals), nearer(x, y, published))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, runs.err
}

// densityNotes say how DenseAndSparse is read.
func densityNotes(budget string, suite Suite, changes []string) []string {
	scored := "on the benchmark's own dense reward"
	if suite == SMACv2 {
		scored = "the share of battles won"
	}
	notes := []string{
		"Mean over seeds and bootstrap 95 % interval of the last evaluation × seeds, " + scored + ". Budget " + budget +
			"; the paper trains 3,000,000 frames. The paper trains tasks with a star on the sparse reward, the others on their own.",
		"The sentence says in which of our two intervals the published number lies, else which of our two means it is nearer to; the reward makes little " +
			"difference where Welch's interval of the difference includes 0 and the means differ by less than a twentieth. " + stats.Caution,
	}
	if len(changes) > 0 {
		notes = append(notes, "CERMIC with "+strings.Join(changes, ", ")+".")
	}
	return notes
}

// cell is the one of a method's row and the column with this number.
func (t *Benchmark) cell(head string, column int) Cell {
	for _, row := range t.Rows {
		if row.Head == head {
			return row.Cells[column]
		}
	}
	panic("paper: no row " + head)
}

// overSeeds is the mean of runs with its bootstrap interval.
func overSeeds(x []float64) stats.Interval {
	return stats.Bootstrap([][]float64{x}, stats.Mean, resamples, rng.New(0, "paper/table"))
}

// estimate writes a mean with its interval and the number of seeds.
func estimate(x []float64, decimals int) string {
	if len(x) == 0 {
		return viz.Missing
	}
	i := overSeeds(x)
	number := func(v float64) string { return viz.Fixed(v, decimals) }
	interval := ""
	if !math.IsNaN(i.Low) {
		interval = fmt.Sprintf(" [%s, %s]", number(i.Low), number(i.High))
	}
	return fmt.Sprintf("%s%s × %d", number(i.Value), interval, len(x))
}

// nearer says in words which of our two results a published number is nearer to.
func nearer(dense, sparse []float64, published float64) string {
	if len(dense) == 0 || len(sparse) == 0 {
		return "not known yet"
	}
	d, s := overSeeds(dense), overSeeds(sparse)
	holds := func(i stats.Interval) bool { return i.Low <= published && published <= i.High }
	small := math.Abs(d.Value-s.Value) < 0.05*max(math.Abs(d.Value), math.Abs(s.Value))
	switch welch := stats.Welch(dense, sparse); {
	case small && math.IsNaN(welch.Low):
		return "too few seeds to tell the two rewards apart"
	case small && !welch.Excludes(0):
		return "the reward makes little difference here"
	case holds(d) && !holds(s):
		return "published within ours from the dense reward"
	case holds(s) && !holds(d):
		return "published within ours from the sparse reward"
	case math.Abs(published-d.Value) < math.Abs(published-s.Value):
		return "published nearer to ours from the dense reward, " + side(published, d.Value)
	}
	return "published nearer to ours from the sparse reward, " + side(published, s.Value)
}

// side says on which side of ours a number lies.
func side(published, ours float64) string {
	if published > ours {
		return "above it"
	}
	return "below it"
}
