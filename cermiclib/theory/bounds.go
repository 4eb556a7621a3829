// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"

	"cermic/envs/rng"
)

// Tolerance is how far, in nats, an estimate may lie on the wrong side of the true mutual information before it counts
// as a violated bound: a few standard errors of the estimates from 16 384 pairs.
const Tolerance = 0.01

// Bounds are the six estimators of mutual information, in nats, that can be read into the paper. Three are meant as
// lower bounds, three as upper bounds.
type Bounds struct {
	MainLower     float64 // Lm: I^c as printed in the main text; a loss, it falls when the information grows
	AppendixLower float64 // La: I^c + log N of the appendix, whose sum leaves out the positive
	SoundLower    float64 // Lr: with the positive in the sum; a lower bound for every critic
	MainUpper     float64 // Um: the main text's form with 1 − c
	AppendixUpper float64 // Ua: I^{1−c} of the appendix
	ContrastUpper float64 // Uc: mean score of true pairs minus that of negatives
}

// Estimate trains a critic on p and evaluates the six estimators on fresh pairs.
func (p Pair) Estimate() (Bounds, error) {
	critic, err := p.Train()
	if err != nil {
		return Bounds{}, err
	}
	return p.Judge(critic), nil
}

// Judge evaluates the six estimators of a critic on p's fresh pairs; p must be valid.
func (p Pair) Judge(critic *Critic) Bounds {
	b := newBatch(p, p.Eval)
	b.draw(p, rng.New(p.Seed, "theory/judge"))
	scores, flipped := make([]float64, p.Negatives+1), make([]float64, p.Negatives+1)
	var sum Bounds
	for i := range p.Eval {
		critic.Score(scores, b.z[i*p.Dim:][:p.Dim], b.row(i))
		for j, c := range scores {
			flipped[j] = 1 - c
		}
		sum.add(scores, flipped)
	}
	return sum.mean(float64(p.Eval))
}

// add accumulates one pair's terms; scores and flipped (1 − score) are [N+1] with the true partner first.
//
// paper:InfoNCE
//
//	Lm = −E log softmax(c)⁺      La = log N + E[c⁺ − log Σ_{j≤N} e^{c⁻_j}]          Lr = log(N+1) − Lm
//	Um = −E log softmax(1−c)⁺    Ua = log N − E[(1−c⁺) − log Σ_{j≤N} e^{1−c⁻_j}]    Uc = E c⁺ − E c⁻
func (b *Bounds) add(scores, flipped []float64) {
	n := float64(len(scores) - 1)
	loss := logSumExp(scores) - scores[0]
	negative := 0.0
	for _, c := range scores[1:] {
		negative += c / n
	}
	b.MainLower += loss
	b.AppendixLower += math.Log(n) + scores[0] - logSumExp(scores[1:])
	b.SoundLower += math.Log(n+1) - loss
	b.MainUpper += logSumExp(flipped) - flipped[0]
	b.AppendixUpper += math.Log(n) - flipped[0] + logSumExp(flipped[1:])
	b.ContrastUpper += scores[0] - negative
}

func (b *Bounds) mean(n float64) Bounds {
	return Bounds{
		b.MainLower / n, b.AppendixLower / n, b.SoundLower / n,
		b.MainUpper / n, b.AppendixUpper / n, b.ContrastUpper / n,
	}
}

// Violated reports, in the order of the fields, which estimators lie on the wrong side of the true information.
func (b Bounds) Violated(information float64) [6]bool {
	return [6]bool{
		b.MainLower > information+Tolerance, b.AppendixLower > information+Tolerance, b.SoundLower > information+Tolerance,
		b.MainUpper < information-Tolerance, b.AppendixUpper < information-Tolerance, b.ContrastUpper < information-Tolerance,
	}
}

// Coins is the counterexample to the appendix' lower bound: fair coins z and f, equal with probability same, a critic that is 1 where
// they are equal and 0 elsewhere, and n independent negatives. It returns the true mutual information and the expectations of the
// estimators, all exact, in nats.
func Coins(same float64, n int) (information float64, b Bounds) {
	entropy := func(p float64) float64 {
		if p <= 0 || p >= 1 {
			return 0
		}
		return -p*math.Log(p) - (1-p)*math.Log(1-p)
	}
	weight := math.Pow(0.5, float64(n)) // that k of the negatives equal z: binomial
	for k := range n + 1 {
		for positive, p := range []float64{1 - same, same} {
			scores, flipped := make([]float64, n+1), make([]float64, n+1)
			scores[0] = float64(positive)
			for j := range k {
				scores[1+j] = 1
			}
			for j, c := range scores {
				flipped[j] = 1 - c
			}
			var one Bounds
			one.add(scores, flipped)
			b = b.plus(one, weight*p)
		}
		weight *= float64(n-k) / float64(k+1)
	}
	return math.Ln2 - entropy(same), b
}

// plus is b + w·o, estimator by estimator.
func (b Bounds) plus(o Bounds, w float64) Bounds {
	return Bounds{
		b.MainLower + w*o.MainLower, b.AppendixLower + w*o.AppendixLower, b.SoundLower + w*o.SoundLower,
		b.MainUpper + w*o.MainUpper, b.AppendixUpper + w*o.AppendixUpper, b.ContrastUpper + w*o.ContrastUpper,
	}
}

// BoundedLimit is the most that a sound lower bound can reach with scores in [0,1] and n negatives: less than one nat.
func BoundedLimit(n int) float64 {
	return math.Log(float64(n+1) * math.E / (float64(n) + math.E))
}

// AppendixUpperRange returns what the appendix' upper bound can be with scores in [0,1] and n negatives. Whatever the
// true information is, the estimate stays within one nat of 2·log n: beyond the top of the range it must fail.
func AppendixUpperRange(n int) (low, high float64) {
	return 2*math.Log(float64(n)) - 1, 2*math.Log(float64(n)) + 1
}
