// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"math"

	"cermic/envs"
	"cermic/envs/rng"
)

// Ratio selects the importance ratio of a policy-gradient loss on actions of the mixture: which log-probability is
// stored, and what the learner compares with it.
type Ratio uint8

// Importance ratios.
const (
	RatioMixture Ratio = iota // μ_new/μ_old: surrogate of the ε-soft policy; initially 1
	RatioTarget               // π_new/μ_old: surrogate of π; Importance = π_old/μ_old times π_new/π_old
	RatioNaive                // π_new/π_old: treats every action as the policy's own
)

// uniform samples from the allowed choices, or within the bounds.
func (d *Dist) uniform(row int, r *rng.Rand, act *envs.Actions) {
	if d.Spec.Choices > 0 {
		at := r.IntN(d.numAllowed(row))
		for k := range d.Spec.Choices {
			if !d.allowed(row, k) {
				continue
			}
			if at == 0 {
				act.Discrete[row] = int32(k)
				return
			}
			at--
		}
	}
	n := d.Spec.Dim
	for i := range n {
		u := float32(math.Atanh(min(max(2*r.Float64()-1, -tanhMax), tanhMax)))
		d.Raw[row*n+i] = u
		act.Continuous[row*n+i] = squash(float64(u), d.Spec, i)
	}
}

// logMixture is log μ of row's action in act; base is its log π.
func (d *Dist) logMixture(row int, base float64, act *envs.Actions) float64 {
	if share := float64(d.Share); share > 0 {
		other := d.logProbOf(d.Other, row, int(act.Discrete[row]))
		base = logSum(math.Log1p(-share)+base, math.Log(share)+other)
	}
	if eps := float64(d.Eps); eps > 0 {
		base = logSum(math.Log1p(-eps)+base, math.Log(eps)+d.logUniform(row))
	}
	return base
}

// logSum is log(exp a + exp b); one of them may be -Inf.
func logSum(a, b float64) float64 {
	top := max(a, b)
	return top + math.Log(math.Exp(a-top)+math.Exp(b-top))
}

// logUniform is log u, equal for all of row's allowed actions.
func (d *Dist) logUniform(row int) float64 {
	if d.Spec.Choices > 0 {
		return -math.Log(float64(d.numAllowed(row)))
	}
	volume := 0.0
	for i := range d.Spec.Dim {
		volume += math.Log(float64(d.Spec.High[i] - d.Spec.Low[i]))
	}
	return -volume
}

func (d *Dist) numAllowed(row int) int {
	n := 0
	for k := range d.Spec.Choices {
		if d.allowed(row, k) {
			n++
		}
	}
	return n
}

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

// Anneal interpolates linearly from one value to another over the given frames and is constant afterwards.
func Anneal(from, to float64, done, frames int) float64 {
	if done >= frames {
		return to
	}
	return from + (to-from)*float64(done)/float64(frames)
}
