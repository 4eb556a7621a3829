// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"
	"math"
	"slices"
)

// Quality says how good pre-training got on held-out play.
type Quality struct {
	AUC     float64 // of the detector over all pairs; NaN where all labels are equal, or there is no detector
	Present float64 // share of labels that are 1
	RMSE    float64 // of the relative positions of pairs with label 1, world half sizes; NaN without any
	Spread  float64 // the same for the best constant prediction
}

// Limits from which on nothing was found. Chance is not the line to draw: where peers start, and what they push, leave traces in
// observations that hold nothing else about them.
const (
	blindAUC  = 0.75
	blindRMSE = 0.9 // of the spread; where there is no detector
)

// BlindNote says what Blind means.
const BlindNote = "From so much play, an agent's observation tells little or nothing about where its peers are, so no memory can do well on it"

// Blind reports whether agents see little or nothing of where their peers are, as far as pre-training found out.
func (q Quality) Blind() bool {
	if math.IsNaN(q.AUC) {
		return q.RMSE > blindRMSE*q.Spread
	}
	return q.AUC < blindAUC
}

// String says in a few lines what detector and positions are worth.
func (q Quality) String() string {
	text := fmt.Sprintf("held-out random play; %.1f %% of pairs visible to each other", 100*q.Present)
	switch {
	case !math.IsNaN(q.AUC):
		text += fmt.Sprintf("\n  detector: AUC %.3f (0.5 is chance)", q.AUC)
	case q.Present == 0 || q.Present == 1:
		text += "\n  detector: nothing to learn, all labels are equal"
	}
	if !math.IsNaN(q.RMSE) {
		text += fmt.Sprintf("\n  positions: RMSE %.3f world half sizes over visible pairs; predicting their mean: %.3f", q.RMSE, q.Spread)
	}
	if q.Blind() {
		text += "\n  " + BlindNote + "."
	}
	return text
}

// errorSum adds up squared errors of 2-D predictions, and what the best constant would have.
type errorSum struct {
	count, squared float64 // of pairs
	sum, square    [2]float64
}

func (e *errorSum) add(axis int, want, got float64) {
	e.count += 0.5
	e.squared += (want - got) * (want - got)
	e.sum[axis] += want
	e.square[axis] += want * want
}

// rmse is the root of the mean squared distance, NaN without any.
func (e *errorSum) rmse() float64 { return math.Sqrt(e.squared / e.count) }

// spread is the rmse of predicting the mean.
func (e *errorSum) spread() float64 {
	total := 0.0
	for axis := range 2 {
		mean := e.sum[axis] / e.count
		total += e.square[axis]/e.count - mean*mean
	}
	return math.Sqrt(total)
}

// areaUnderCurve is the chance that a positive scores higher than a negative, ties counting half (Mann and Whitney); NaN
// if there are no two to compare.
func areaUnderCurve(scores []float64, labels []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return 0
	})
	rankSum, positives := 0.0, 0.0
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && scores[order[to]] == scores[order[from]] {
			to++
		}
		rank := float64(from+to+1) / 2 // mean rank of the tied, counted from 1
		for _, i := range order[from:to] {
			if labels[i] {
				rankSum += rank
				positives++
			}
		}
		from = to
	}
	negatives := float64(len(order)) - positives
	return (rankSum - positives*(positives+1)/2) / (positives * negatives)
}
