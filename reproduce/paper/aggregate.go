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

// Scale maps the score of a task to one that can be averaged over tasks: From, of random play, becomes 0, and To, of scripted play, 1;
// both are means over as many Episodes.
type Scale struct {
	From, To float64
	Episodes int
}

// of scales a score.
func (s Scale) of(score float64) float64 { return (score - s.From) / (s.To - s.From) }

// Aggregate is how methods do over all tasks on which every one of them was measured.
type Aggregate struct {
	Tasks   []string      // of the paper's names
	Methods []string      // displayed names, in the order of the table
	Scores  [][][]float64 // [method][task][seed], scaled
	Scales  []Scale       // of Tasks
	Left    []string      // tasks that were left out because a method lacks runs or there is no scale
}

// Aggregate gathers the scaled last scores of the table's rows, of the methods that were measured at all.
// scale gives the scale of a task by its ID, zero if there is none. A row counts as one method under its head.
func (t *Benchmark) Aggregate(src Source, scale func(task string) (Scale, error)) (Aggregate, error) {
	runs := asked{src: src}
	var a Aggregate
	var rows []Row
	for _, row := range t.Rows {
		if slices.ContainsFunc(row.Cells, func(c Cell) bool { return len(runs.of(c.Trial).Runs) > 0 }) {
			rows = append(rows, row)
			a.Methods, a.Scores = append(a.Methods, row.Head), append(a.Scores, nil)
		}
	}
	for j, column := range t.Columns {
		lacks := func(r Row) bool { return len(runs.of(r.Cells[j].Trial).Runs) == 0 || r.Cells[j].Minus != nil }
		var known Scale
		var err error
		if len(rows) > 0 && !slices.ContainsFunc(rows, lacks) {
			if known, err = scale(rows[0].Cells[j].Trial.Task); err != nil {
				return Aggregate{}, err
			}
		}
		if known == (Scale{}) {
			a.Left = append(a.Left, column)
			continue
		}
		a.Tasks, a.Scales = append(a.Tasks, column), append(a.Scales, known)
		for i, row := range rows {
			scores := runs.scores(row.Cells[j].Trial)
			for k := range scores {
				scores[k] = known.of(scores[k])
			}
			a.Scores[i] = append(a.Scores[i], scores)
		}
	}
	return a, runs.err
}

// about says what was averaged, and on which scales.
func (a Aggregate) about() string {
	var over []string
	for i, s := range a.Scales {
		over = append(over, fmt.Sprintf("%s (%s to %s, %d episodes each)", a.Tasks[i], viz.Fixed(s.From, 2), viz.Fixed(s.To, 2), s.Episodes))
	}
	text := "Scores are scaled on each task so that random play is 0 and scripted play is 1: " + strings.Join(over, ", ") + ". " + stats.Caution
	if len(a.Left) > 0 {
		text += " Left out, because not every method was measured or no scale is known: " + strings.Join(a.Left, ", ") + "."
	}
	return text
}

// Summary is a table of aggregate scores: interquartile mean, mean and median over tasks and seeds with stratified bootstrap
// 95 % intervals, and the probability that a run of the method beats one of the first method on the same task.
func (a Aggregate) Summary() viz.Table {
	t := viz.Table{Title: "Aggregate scores", Header: []string{"method", "IQM", "mean", "median", "beats " + first(a.Methods)}, Notes: []string{a.about()}}
	if len(a.Tasks) == 0 {
		return t
	}
	for i, method := range a.Methods {
		show := func(name string, f func([][]float64) float64) string {
			return interval(stats.Bootstrap(a.Scores[i], f, resamples, rng.New(0, "paper/aggregate/"+name)))
		}
		odds := viz.Missing
		if i > 0 {
			odds = interval(stats.BootstrapTwo(a.Scores[i], a.Scores[0], stats.Improvement, resamples, rng.New(0, "paper/improvement")))
		}
		t.Rows = append(t.Rows, []string{method, show("iqm", stats.IQM), show("mean", stats.Mean), show("median", stats.Median), odds})
	}
	return t
}

func first(names []string) string {
	if len(names) == 0 {
		return "the first"
	}
	return names[0]
}

// interval writes an estimate: "0.52 [0.40, 0.63]".
func interval(i stats.Interval) string {
	if i.Low != i.Low { // too few seeds
		return fmt.Sprintf("%.2f", i.Value)
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f]", i.Value, i.Low, i.High)
}

// profileReach is how far from play without learning, 0 and 1, scores may lie that a profile shows: single runs on a task on which
// the script earns little more than chance would take all the room.
const profileReach = 3

// Profiles are the performance profiles: for each method the share of runs above a scaled score, with pointwise 95 % intervals.
// They fall at the scores that there are and are level between them, from below the smallest score of all to above the largest.
func (a Aggregate) Profiles() []viz.Series {
	if len(a.Tasks) == 0 {
		return nil
	}
	low, high := a.profileRange()
	var out []viz.Series
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

// profileRange reaches a little beyond the smallest and the largest score of all, within profileReach of play without learning.
func (a Aggregate) profileRange() (low, high float64) {
	low, high = 0, 1
	for _, method := range a.Scores {
		for _, x := range slices.Concat(method...) {
			low, high = min(low, x), max(high, x)
		}
	}
	margin := 0.02 * (high - low)
	return max(low-margin, -profileReach), min(high+margin, 1+profileReach)
}
