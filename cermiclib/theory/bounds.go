// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"cermic/envs/rng"
)

// tolerance is how far, in nats, an estimate may lie on the wrong side of the true mutual information before it counts
// as a violated bound: a few standard errors of the estimates from 16,384 pairs.
const tolerance = 0.01

// Bounds are six estimates of mutual information, in nats, that can be read into the paper. The first three are meant
// as lower bounds, the others as upper bounds.
type Bounds [6]float64

// The estimators, as indices of Bounds.
const (
	MainLower     = iota // Lm: I^c as printed in the main text; a loss, it falls when the information grows
	AppendixLower        // La: I^c + log N of the appendix, whose sum leaves out the positive
	SoundLower           // Lr: with the positive in the sum; a lower bound for every critic
	MainUpper            // Um: the main text's form with 1 − c
	AppendixUpper        // Ua: I^{1−c} of the appendix
	ContrastUpper        // Uc: mean score of true pairs minus that of negatives
)

// estimate trains a critic on p and evaluates the six estimators on fresh pairs.
func (p Pair) estimate() (Bounds, error) {
	c, err := p.train()
	if err != nil {
		return Bounds{}, err
	}
	return p.judge(c), nil
}

// judge evaluates the six estimators of a critic on fresh pairs; p must be valid.
func (p Pair) judge(c *critic) (mean Bounds) {
	b := p.draw(p.Eval, rng.New(p.Seed, "theory/judge"))
	for i := range p.Eval {
		for k, v := range terms(c.score(b.z[i*p.Dim:][:p.Dim], b.row(i))) {
			mean[k] += v / float64(p.Eval)
		}
	}
	return mean
}

// terms are one pair's parts of the estimates; scores [N+1] begin with that of the true partner.
//
// paper:InfoNCE
//
//	Lm = −E log softmax(c)⁺      La = log N + E[c⁺ − log Σ_{j≤N} e^{c⁻_j}]          Lr = log(N+1) − Lm
//	Um = −E log softmax(1−c)⁺    Ua = log N − E[(1−c⁺) − log Σ_{j≤N} e^{1−c⁻_j}]    Uc = E c⁺ − E c⁻
func terms(scores []float64) Bounds {
	n := float64(len(scores) - 1)
	flipped, negative := make([]float64, len(scores)), 0.0
	for j, c := range scores {
		flipped[j] = 1 - c
		if j > 0 {
			negative += c / n
		}
	}
	loss := floats.LogSumExp(scores) - scores[0]
	return Bounds{
		MainLower:     loss,
		AppendixLower: math.Log(n) + scores[0] - floats.LogSumExp(scores[1:]),
		SoundLower:    math.Log(n+1) - loss,
		MainUpper:     floats.LogSumExp(flipped) - flipped[0],
		AppendixUpper: math.Log(n) - flipped[0] + floats.LogSumExp(flipped[1:]),
		ContrastUpper: scores[0] - negative,
	}
}

// violated reports which estimates lie on the wrong side of the true information.
func (b Bounds) violated(information float64) (out [6]bool) {
	for k, v := range b {
		out[k] = k < MainUpper && v > information+tolerance || k >= MainUpper && v < information-tolerance
	}
	return out
}

// BoundedLimit is the most that a sound lower bound can reach with scores in [0,1] and n negatives: less than one nat.
func BoundedLimit(n int) float64 {
	return math.Log(float64(n+1) * math.E / (float64(n) + math.E))
}
