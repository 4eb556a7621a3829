// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/viz"
)

// resamples of each bootstrap interval in a table: enough for the digits that are printed.
const resamples = 2000

// Source finds the complete runs at one budget of the experiments that trials train: all seeds of exactly those
// experiments. Scale is the scale of a task's scores, zero where none is known.
type Source interface {
	Budget() string
	Runs(Trial) (results.Group, error)
	Scale(task string) (Scale, error)
}

// Results puts complete runs at one budget beside the published numbers. A run's score is the mean over
// the episodes of its last evaluation; ours is the mean over seeds with its bootstrap 95 % interval. Below each row of
// CERMIC are the same cells by ours with Theorem 1's bonus, which fill no row of the paper. The caption names budget,
// presets, reward, and departures from the paper's settings.
func (t *Benchmark) Results(src Source) (viz.ScoreTable, error) {
	runs := asked{src: src}
	g := viz.ScoreTable{Title: fmt.Sprintf("Table %d. %s", t.Number, t.Caption), Columns: t.Columns}
	var shown []results.Group
	for i, row := range t.Rows {
		out := viz.Row{Group: row.Group, Head: row.Head}
		for j, cell := range row.Cells {
			ours := cell.measure(&runs)
			ours.Bold = t.best(i, j, &runs)
			out.Cells = append(out.Cells, ours)
			for _, trial := range cell.Trials() {
				shown = append(shown, runs.of(trial))
			}
		}
		g.Rows = append(g.Rows, out)
		if cells := row.Theorems(); cells != nil {
			apart := viz.Row{Group: row.Group, Head: row.Head, Ours: "ours: " + TheoremBonus}
			for _, cell := range cells {
				ours := cell.measure(&runs)
				ours.Published = nil
				apart.Cells = append(apart.Cells, ours)
			}
			g.Rows = append(g.Rows, apart)
		}
	}
	g.Caption = strings.Join(append([]string{t.Note, "Budget " + src.Budget() + "."}, conditions(shown)...), " ")
	return g, runs.err
}

// asked is a source and the first error that it gave; after that there are no runs.
type asked struct {
	src Source
	err error
}

// of are the runs of a trial.
func (a *asked) of(t Trial) (g results.Group) {
	if a.err == nil {
		if g, a.err = a.src.Runs(t); a.err == nil {
			return g
		}
	}
	return results.Group{}
}

// scores are the final scores of a trial.
func (a *asked) scores(t Trial) []float64 {
	out, err := t.scores(a.of(t))
	if err != nil {
		a.err = err
		return nil
	}
	return out
}

// same reports whether two trials, which both have runs, are one.
func (a *asked) same(t, u Trial) bool { return a.of(t).Runs[0].ID == a.of(u).Runs[0].ID }

// measure is the cell with ours beside the published number.
func (c Cell) measure(runs *asked) viz.Cell {
	out := viz.Cell{Published: &c.Value, Spread: c.Spread, Decimals: c.Decimals, Low: math.NaN(), High: math.NaN()}
	if c.Dense != nil {
		dense := Cell{Decimals: c.Decimals, Trial: *c.Dense}.measure(runs)
		dense.Published = nil // it is printed for training on the sparse reward
		out.Dense = &dense
	}
	x, own := runs.scores(c.Trial), runs.of(c.Trial)
	y, seeds := []float64(nil), len(x)
	if c.Minus != nil {
		y = runs.scores(*c.Minus)
		seeds = min(seeds, len(y))
	}
	if seeds == 0 {
		return out
	}
	interval := overSeeds(x)
	if c.Minus != nil {
		interval = difference(x, y)
	} else {
		out.FirstSteps, out.First = firstScore(c.Trial, own)
	}
	out.Ours, out.Low, out.High = interval.Value, interval.Low, interval.High
	out.Seeds, out.Frames = seeds, own.Runs[0].Frames
	return out
}

// Score is the mean over seeds with Student's 95 % interval, and the score of each seed. For a difference, the
// interval is Welch's, and the scores are the minuend's. Without runs there are no scores.
func (c Cell) Score(src Source) (mean stats.Interval, seeds []float64, err error) {
	runs := asked{src: src}
	seeds = runs.scores(c.Trial)
	if c.Minus == nil {
		return stats.Student(seeds), seeds, runs.err
	}
	less := runs.scores(*c.Minus)
	if len(less) == 0 {
		seeds = nil
	}
	return stats.Welch(seeds, less), seeds, runs.err
}

// twoScores is the number of steps that the second score of Melting Pot counts: BenchMARL's, unless set otherwise.
// The paper does not say which of the two it prints.
const twoScores = 100

// firstScore is the mean of the second score over the last evaluations of a trial's runs, NaN if a run did not record
// it. steps is the number of steps that it counts, 0 for a task with one score.
func firstScore(trial Trial, g results.Group) (steps int, mean float64) {
	if !strings.HasPrefix(trial.Task, "meltingpot/") {
		return 0, 0
	}
	var scores []float64
	for _, r := range g.Runs {
		scores = append(scores, average(r.Last().Early)/float64(max(1, trial.Agents))) // NaN of none
	}
	return twoScores, average(scores)
}

// difference is the interval of mean(x) − mean(y).
func difference(x, y []float64) stats.Interval {
	return stats.Difference([][]float64{x}, [][]float64{y}, stats.Mean, resamples, rng.New(0, "paper/table"))
}

// best reports whether row i is significantly above every other measured row in column j (stats.Differ). Rows that show
// the same trial count once; differences are not compared.
func (t *Benchmark) best(i, j int, runs *asked) bool {
	cell, others := t.Rows[i].Cells[j], 0
	mine := runs.scores(cell.Trial)
	if len(mine) == 0 || cell.Minus != nil {
		return false
	}
	for _, other := range t.Rows {
		theirs := other.Cells[j].Trial
		y := runs.scores(theirs)
		if len(y) == 0 || runs.same(theirs, cell.Trial) {
			continue
		}
		others++
		if d := difference(mine, y); !(d.Value > 0 && stats.Differ(mine, y, d)) {
			return false
		}
	}
	return others > 0
}

// conditions are sentences about the runs in a table: presets, reward mode, deviations.
func conditions(shown []results.Group) (out []string) {
	var presets, rewards, horizons, scores, departures []string
	for _, g := range shown {
		if len(g.Runs) == 0 {
			continue
		}
		e := g.Runs[0].Experiment // equal in all runs, except the seed
		reward := Setting(e, "task.reward")
		if reward == "sparse" {
			horizons = append(horizons, Setting(e, "task.sparse_horizon"))
		}
		for _, d := range Deviations(e) {
			departures = append(departures, d.Key+"="+d.Value)
		}
		presets, rewards = append(presets, Preset(g)), append(rewards, reward)
		scores = append(scores, Setting(e, "task.score"))
	}
	for _, list := range []*[]string{&presets, &rewards, &horizons, &scores, &departures} {
		slices.Sort(*list)
		*list = slices.DeleteFunc(slices.Compact(*list), func(text string) bool { return text == "" })
	}
	if len(presets) > 0 {
		out = append(out, "Preset "+strings.Join(presets, "; ")+".")
	}
	if slices.Contains(rewards, "sparse") {
		with := "" // of families whose episodes are as long on either reward
		if len(horizons) > 0 {
			with = " with sparse_horizon=" + strings.Join(horizons, ", ")
		}
		if len(rewards) == 1 {
			out = append(out, "Trained on the sparse reward"+with+", scored on the benchmark's own.")
		} else {
			out = append(out, "Columns with a star, unless they say dense, trained on the sparse reward"+with+
				", the others on the benchmark's own; all scored on that.")
		}
	}
	if len(scores) > 0 {
		out = append(out, "Episodes of Melting Pot scored by task.score="+strings.Join(scores, ", ")+".")
	}
	if len(departures) > 0 {
		out = append(out, "Departs from the paper's settings: "+strings.Join(departures, ", ")+".")
	}
	return out
}

// Preset names the settings of runs: "default" are ours, "literal" follow the paper's letter; where single settings are
// changed it says so.
func Preset(g results.Group) string {
	preset := "default"
	if strings.HasSuffix(g.Method, literalSuffix) {
		preset = "literal"
	}
	if g.Label != g.Method {
		preset += " with single changes"
	}
	return preset
}
