// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
)

// Quality says how good pre-training got on held-out play.
type Quality struct {
	AUC     float64 // of the detector over all pairs; NaN where all labels are equal, or there is no detector
	Present float64 // share of labels that are 1
	RMSE    float64 // of the relative positions of pairs with label 1, world half sizes; NaN without any
	Spread  float64 // the same for the best constant prediction
}

// Limits from which on nothing was found. Chance is not the line to draw: where peers start, and what they push,
// leave traces in observations that hold nothing else about them.
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

// positionErrors are the root mean squared distance of predicted 2-D positions, by axis, and that of predicting the
// mean; NaN without positions.
func positionErrors(want, got [2][]float64) (rmse, spread float64) {
	squared, variance := 0.0, 0.0
	for axis := range 2 {
		distance := floats.Distance(want[axis], got[axis], 2)
		squared += distance * distance
		variance += stat.PopVariance(want[axis], nil)
	}
	return math.Sqrt(squared / float64(len(want[0]))), math.Sqrt(variance)
}

// areaUnderCurve is the probability that a positive scores higher than a negative, ties counting half; NaN without
// both. It sorts its arguments.
func areaUnderCurve(scores []float64, labels []bool) float64 {
	stat.SortWeightedLabeled(scores, labels, nil)
	hits, falseAlarms, _ := stat.ROC(nil, scores, labels, nil)
	return integrate.Trapezoidal(falseAlarms, hits)
}
