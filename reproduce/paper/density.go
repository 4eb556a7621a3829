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

// RewardTrial is a method on a task, trained on a reward ("dense" or "sparse"). Unless set otherwise, starred tasks
// are trained on the sparse reward, the others on the dense one.
func RewardTrial(t Task, method, reward string) Trial {
	trial := Trial{Task: t.ID, Method: method}
	if (reward == "sparse") != t.Star {
		trial.Set = []string{"task.reward=" + reward}
	}
	return trial
}

// PrintedFor finds the number that the paper prints for a method on a task, trained on a reward. It is in Table 1 or,
// for a starred task's dense reward, in Table 4. If the paper prints a number for the other reward alone, cell is
// that number and other is true. ok is false if it prints none. A method that follows the paper's letter has the
// number of its base.
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

// DenseAndSparse tabulates, for every task of a suite, the scores of methods trained on the dense and on the sparse
// reward, beside the published number. Columns are grouped by method. changes, each "key=value" as for -set, apply to
// CERMIC's runs.
func DenseAndSparse(src Source, suite Suite, methods []string, changes ...string) (viz.Table, error) {
	runs := asked{src: src}
	scored := "on the benchmark's own dense reward"
	if suite == SMACv2 {
		scored = "the share of battles won"
	}
	t := viz.Table{Title: "Trained on the dense and on the sparse reward, and published", Header: []string{"task"},
		Notes: []string{"Mean over seeds and bootstrap 95 % interval of the last evaluation × seeds, " + scored +
			". Budget " + src.Budget() + "; the paper trains 3,000,000 frames. The paper trains tasks with a star on the " +
			"sparse reward, the others on their own. " + stats.Caution}}
	if len(changes) > 0 {
		t.Notes = append(t.Notes, "CERMIC with "+strings.Join(changes, ", ")+".")
	}
	tasks := suiteTasks(suite)
	for _, task := range tasks {
		t.Rows = append(t.Rows, []string{task.Abbreviation})
	}
	for _, method := range methods {
		m, err := FindMethod(method)
		if err != nil {
			return viz.Table{}, err
		}
		t.Header = append(t.Header, m.Name+" dense", "sparse", "published")
		for i, task := range tasks {
			for _, reward := range []string{"dense", "sparse"} {
				trial := RewardTrial(task, m.ID, reward)
				if m.Group == Ours {
					trial.Set = append(trial.Set, changes...)
				}
				t.Rows[i] = append(t.Rows[i], estimate(runs.scores(trial), task.Decimals))
			}
			published, _ := Sota.of(Trial{Task: task.ID, Method: m.ID})
			t.Rows[i] = append(t.Rows[i], viz.Fixed(published.Value, task.Decimals))
		}
	}
	return t, runs.err
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
	return fmt.Sprintf("%s × %d", Rounded(overSeeds(x), decimals), len(x))
}

// Rounded writes an estimate with so many decimals: "0.52 [0.40, 0.63]", without bounds of too few seeds.
func Rounded(i stats.Interval, decimals int) string {
	value := viz.Fixed(i.Value, decimals)
	if math.IsNaN(i.Low) {
		return value
	}
	return fmt.Sprintf("%s [%s, %s]", value, viz.Fixed(i.Low, decimals), viz.Fixed(i.High, decimals))
}
