// SPDX-License-Identifier: Apache-2.0

// Package stats quantifies the uncertainty of comparisons between a few training runs. It has aggregate scores over
// tasks, stratified bootstrap intervals, odds of improvement and performance profiles. They follow Agarwal et al.,
// "Deep Reinforcement Learning at the Edge of the Statistical Precipice" (NeurIPS 2021), and their library rliable.
//
// Scores are [task][run]: one number per training run, already reduced over its episodes. Tasks may differ in their
// number of runs, but have equal weight in every function here. Aggregates over several tasks mean something only if
// the tasks share a scale. All functions are pure: they keep and change nothing. Without any score, or with a NaN
// score, the result is NaN.
package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Mean is the mean over tasks of the mean over runs.
func Mean(scores [][]float64) float64 { return stat.Mean(taskMeans(scores), nil) }

// Median is the median over tasks of the mean over runs.
func Median(scores [][]float64) float64 {
	means := taskMeans(scores)
	if hasNaN(means) {
		return math.NaN()
	}
	slices.Sort(means)
	return quantile(means, 0.5)
}

// IQM is the interquartile mean: the mean of all tasks' scores together, without the lowest and the highest quarter.
// Each quarter is rounded down to whole scores. Tasks have equal weight: if they differ in their number of runs, each
// task's runs count as if repeated up to a common number.
func IQM(scores [][]float64) float64 {
	type weighed struct {
		score float64
		times int
	}
	runs := 1 // of every task, with repetitions
	for _, task := range scores {
		if hasNaN(task) {
			return math.NaN()
		}
		runs = lcm(runs, len(task))
	}
	if len(scores) == 0 {
		return math.NaN()
	}
	var all []weighed
	for _, task := range scores {
		for _, x := range task {
			all = append(all, weighed{x, runs / len(task)})
		}
	}
	slices.SortFunc(all, func(a, b weighed) int { return cmp.Compare(a.score, b.score) })
	whole := runs * len(scores)
	from, to := whole/4, whole-whole/4
	sum, at := 0.0, 0
	for _, w := range all {
		sum += w.score * float64(max(0, min(to, at+w.times)-max(from, at)))
		at += w.times
	}
	return sum / float64(to-from)
}

// lcm is the least common multiple of two numbers above 0.
func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// Improvement is the probability that a run of x scores higher than a run of y on the same task, averaged over tasks. A
// tie counts one half. On each task it is the U statistic of Mann and Whitney over the number of pairs.
func Improvement(x, y [][]float64) float64 {
	odds := make([]float64, len(x))
	for task := range x {
		if hasNaN(x[task]) || hasNaN(y[task]) {
			return math.NaN()
		}
		wins := 0.0
		for _, a := range x[task] {
			for _, b := range y[task] {
				wins += float64(1+cmp.Compare(a, b)) / 2
			}
		}
		odds[task] = wins / float64(len(x[task])*len(y[task]))
	}
	return stat.Mean(odds, nil)
}

// Profile is the performance profile: for each of levels [L], the fraction of runs with a higher score, averaged over
// tasks. It falls from 1 to 0 as the level rises.
func Profile(scores [][]float64, levels []float64) []float64 {
	fractions := make([]float64, len(levels))
	for k, level := range levels {
		above := make([]float64, len(scores))
		for task, runs := range scores {
			if hasNaN(runs) {
				above[task] = math.NaN()
				continue
			}
			for _, x := range runs {
				if x > level {
					above[task] += 1 / float64(len(runs))
				}
			}
		}
		fractions[k] = stat.Mean(above, nil)
	}
	return fractions
}

// taskMeans is the mean over the runs of each task.
func taskMeans(scores [][]float64) []float64 {
	means := make([]float64, len(scores))
	for task, runs := range scores {
		means[task] = stat.Mean(runs, nil)
	}
	return means
}

func hasNaN(x []float64) bool { return len(x) == 0 || slices.ContainsFunc(x, math.IsNaN) }

// quantile is the q-quantile of sorted values, linear between neighbours.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// RankCorrelation is Spearman's correlation of pairs (x, y): the correlation of their ranks, from -1 to 1. Equal values
// share the mean of their ranks. It is 0 if x or y is constant, and NaN if any value is NaN.
func RankCorrelation(x, y []float64) float64 {
	if hasNaN(x) || hasNaN(y) {
		return math.NaN()
	}
	rx, ry := ranks(x), ranks(y)
	if len(x) == 0 || stat.Variance(rx, nil) == 0 || stat.Variance(ry, nil) == 0 || len(x) == 1 {
		return 0
	}
	return stat.Correlation(rx, ry, nil)
}

// ranks are the positions of the values in ascending order. Equal values share their mean position.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float64, len(x))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return out
}
