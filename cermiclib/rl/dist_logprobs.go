// SPDX-License-Identifier: Apache-2.0

package rl

import "math"

// logProbFloor stands for the logarithm of probabilities below it, that of a greedy policy's other actions among them.
const logProbFloor = -20

// LogProbs writes the log-probability that each discrete action of each row has under the whole mixture μ into dst [E,N,K], at least
// -20, also for forbidden actions.
func (d *Dist) LogProbs(dst []float32) {
	k := d.Spec.Choices
	for row := range len(dst) / k {
		var other func(choice int) float64
		if d.Share > 0 {
			other = d.probs(d.Other, row)
		}
		base := d.probs(d.Logits, row)
		if d.Greedy {
			best := d.best(row)
			base = func(choice int) float64 {
				if choice == best {
					return 1
				}
				return 0
			}
		}
		for choice := range k {
			p := 0.0
			if d.allowed(row, choice) {
				p = base(choice)
				if other != nil {
					p = (1-float64(d.Share))*p + float64(d.Share)*other(choice)
				}
				p = (1-float64(d.Eps))*p + float64(d.Eps)/float64(d.numAllowed(row))
			}
			dst[row*k+choice] = float32(max(math.Log(p), logProbFloor))
		}
	}
}

// probs returns the masked softmax of logits [E,N,K] in a row.
func (d *Dist) probs(logits []float32, row int) func(choice int) float64 {
	k := d.Spec.Choices
	logits = logits[row*k : (row+1)*k]
	top, total := math.Inf(-1), 0.0
	for i, l := range logits {
		if d.allowed(row, i) {
			top = max(top, float64(l))
		}
	}
	for i, l := range logits {
		if d.allowed(row, i) {
			total += math.Exp(float64(l) - top)
		}
	}
	return func(choice int) float64 { return math.Exp(float64(logits[choice])-top) / total }
}
