// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/viz"
)

// Scale maps the score of a task to one that can be averaged over tasks. From, of random play, becomes 0, and To, of
// scripted play, becomes 1. Both are means over as many Episodes.
type Scale struct {
	From, To float64
	Episodes int
}

// of scales a score.
func (s Scale) of(score float64) float64 { return (score - s.From) / (s.To - s.From) }

// Aggregate is how methods do over tasks on which every one of them was measured.
type Aggregate struct {
	Tasks   []string      // of the paper's names
	Methods []string      // displayed names, in the order of the table
	Base    int           // of Methods, which the others are compared with: MAPPO if it is there
	Scores  [][][]float64 // [method][task][seed], scaled
	Scales  []Scale       // of Tasks
	Without []string      // methods with runs that were left out, because they lack tasks that the others have
	Left    []string      // tasks that were left out because a method lacks runs or there is no scale
}

// Aggregate gathers the scaled last scores of the largest set of methods and tasks in which every method has runs on
// every task. There are at least two of each. scale gives the scale of a task by its ID, zero if there is none. A row
// counts as one method under its head.
func (t *Benchmark) Aggregate(src Source, scale func(task string) (Scale, error)) (a Aggregate, err error) {
	runs := asked{src: src}
	scores := t.lastScores(&runs)
	scales := make([]Scale, len(t.Columns))
	for j := range t.Columns {
		if scales[j], err = scale(t.Rows[0].Cells[j].Trial.Task); err != nil {
			return a, err
		}
	}
	rows, columns := largest(len(t.Rows), len(t.Columns), func(i, j int) bool {
		return scales[j] != Scale{} && len(scores[i][j]) > 0
	})
	for j, column := range t.Columns {
		if slices.Contains(columns, j) {
			a.Tasks, a.Scales = append(a.Tasks, column), append(a.Scales, scales[j])
		} else {
			a.Left = append(a.Left, column)
		}
	}
	for i, row := range t.Rows {
		if !slices.Contains(rows, i) {
			if len(slices.Concat(scores[i]...)) > 0 {
				a.Without = append(a.Without, row.Head)
			}
			continue
		}
		if row.Cells[0].Trial.Method == "mappo" {
			a.Base = len(a.Methods)
		}
		var all [][]float64
		for _, j := range columns {
			for n, score := range scores[i][j] {
				scores[i][j][n] = scales[j].of(score)
			}
			all = append(all, scores[i][j])
		}
		a.Methods, a.Scores = append(a.Methods, row.Head), append(a.Scores, all)
	}
	return a, runs.err
}

// lastScores are those of all cells, [row][column][seed]; empty where nothing was measured.
func (t *Benchmark) lastScores(runs *asked) [][][]float64 {
	scores := make([][][]float64, len(t.Rows))
	for i, row := range t.Rows {
		scores[i] = make([][]float64, len(t.Columns))
		for j, cell := range row.Cells {
			if cell.Minus == nil {
				scores[i][j] = runs.scores(cell.Trial)
			}
		}
	}
	return scores
}

// largest chooses rows and the columns that all of them have, at least two of each, to maximise rows × columns. Among
// equals it prefers more columns. It tries every set of rows: tables have ten.
func largest(rows, columns int, has func(i, j int) bool) (chosen, common []int) {
	for set := range 1 << rows {
		var some, all []int
		for i := range rows {
			if set&(1<<i) != 0 {
				some = append(some, i)
			}
		}
		for j := range columns {
			if !slices.ContainsFunc(some, func(i int) bool { return !has(i, j) }) {
				all = append(all, j)
			}
		}
		more := len(some)*len(all) - len(chosen)*len(common)
		if len(some) >= 2 && len(all) >= 2 && (more > 0 || more == 0 && len(all) > len(common)) {
			chosen, common = some, all
		}
	}
	return chosen, common
}

// about says what was averaged, and on which scales.
func (a Aggregate) about() string {
	if len(a.Tasks) == 0 {
		return "No two methods have runs on the same two tasks yet: there is nothing to average."
	}
	var over []string
	for i, s := range a.Scales {
		over = append(over, fmt.Sprintf("%s (%s to %s, %d episodes each)",
			a.Tasks[i], viz.Fixed(s.From, 2), viz.Fixed(s.To, 2), s.Episodes))
	}
	text := "Scores are scaled on each task so that random play is 0 and scripted play is 1: " + strings.Join(over, ", ") +
		". A method with a single run on any of the tasks has no interval. " + stats.Caution
	if len(a.Without) > 0 {
		text += " Methods left out, because they lack runs on these tasks: " + strings.Join(a.Without, ", ") + "."
	}
	if len(a.Left) > 0 {
		text += " Tasks left out, because a method lacks runs there or no scale is known: " + strings.Join(a.Left, ", ") + "."
	}
	return text
}

// Summary is a table of aggregate scores: interquartile mean, mean and median over tasks and seeds with stratified
// bootstrap 95 % intervals. It also has the probability that a run of the method beats one of Base on the same task.
func (a Aggregate) Summary() viz.Table {
	t := viz.Table{Notes: []string{a.about()}}
	if len(a.Tasks) == 0 {
		return t
	}
	t.Header = []string{"method", "IQM", "mean", "median", "beats " + a.Methods[a.Base]}
	t.Title = fmt.Sprintf("Aggregate scores of %s over %s",
		viz.Count(len(a.Methods), "method"), viz.Count(len(a.Tasks), "task"))
	for i, method := range a.Methods {
		show := func(name string, f func([][]float64) float64) string {
			return Rounded(stats.Bootstrap(a.Scores[i], f, resamples, rng.New(0, "paper/aggregate/"+name)), 2)
		}
		odds := viz.Missing
		if i != a.Base {
			better := stats.BootstrapTwo(a.Scores[i], a.Scores[a.Base], stats.Improvement, resamples,
				rng.New(0, "paper/improvement"))
			odds = Rounded(better, 2)
		}
		t.Rows = append(t.Rows, []string{method, show("iqm", stats.IQM), show("mean", stats.Mean),
			show("median", stats.Median), odds})
	}
	return t
}

// profileReach limits the scores that a profile shows: how far they may lie from 0 and 1, the scores of play without
// learning. Otherwise single runs would take all the room on a task whose script is little better than chance.
const profileReach = 3

// Profiles are the performance profiles: for each method the share of runs above a scaled score, averaged over tasks,
// with pointwise 95 % intervals. They fall at the observed scores and are level in between. They span from a little
// below the smallest score of all to a little above the largest.
func (a Aggregate) Profiles() (out []viz.Series) {
	low, high := 0., 1.
	for _, method := range a.Scores {
		all := slices.Concat(method...)
		low, high = min(low, slices.Min(all)), max(high, slices.Max(all))
	}
	margin := 0.02 * (high - low)
	low, high = max(low-margin, -profileReach), min(high+margin, 1+profileReach)
	for i, method := range a.Methods {
		levels := []float64{low}
		for _, score := range slices.Sorted(slices.Values(slices.Concat(a.Scores[i]...))) {
			if score > levels[len(levels)-1] && score < high {
				levels = append(levels, score)
			}
		}
		profile := func(s [][]float64) []float64 { return stats.Profile(s, levels) }
		s := viz.Series{Label: method, Y: make([][]float64, 1), Band: "pointwise bootstrap 95 % interval"}
		for k, point := range stats.BootstrapEach(a.Scores[i], profile, resamples, rng.New(0, "paper/profile")) {
			until := high
			if k+1 < len(levels) {
				until = levels[k+1]
			}
			s.X, s.Y[0] = append(s.X, levels[k], until), append(s.Y[0], point.Value, point.Value)
			if !math.IsNaN(point.Low) {
				s.Low, s.High = append(s.Low, point.Low, point.Low), append(s.High, point.High, point.High)
			}
		}
		out = append(out, s)
	}
	return out
}
