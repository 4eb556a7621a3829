// SPDX-License-Identifier: Apache-2.0

package rl

import "math"

// logProbFloor is the lower bound of LogProbs, which a greedy policy's other actions would fall below.
const logProbFloor = -20

// LogProbs writes the log-probabilities of all discrete actions under the mixture μ into dst [E,N,K]. All are at least
// -20, those of forbidden actions included.
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

// probs returns row's masked softmax of logits [E,N,K].
func (d *Dist) probs(logits []float32, row int) func(choice int) float64 {
	top, total := d.softmaxScale(logits, row)
	logits = logits[row*d.Spec.Choices:]
	return func(choice int) float64 { return math.Exp(float64(logits[choice])-top) / total }
}
