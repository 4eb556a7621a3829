// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"cermic/envs/rng"
)

// Pair is one test of the mutual-information bounds. z and f are jointly Gaussian with equal correlation in every
// coordinate, so their mutual information is known. A critic is trained by InfoNCE and judged on fresh pairs.
type Pair struct {
	Information float64 // true I(z;f) in nats
	Dim         int     // coordinates of z and of f
	Negatives   int     // N
	Squash      Squash
	Noise       float64 // 0: negatives are other pairs' f. Above 0: f plus Gaussian noise of so many standard deviations
	Steps       int     // Adam steps
	Batch       int     // pairs per step
	Rate        float64 // Adam's step size
	Eval        int     // fresh pairs on which the bounds are estimated
	Seed        uint64
}

// DefaultPair returns the setting of the reference table. Bounded critics have converged after its steps. Unbounded
// ones have not for 4 nats or more, and neither have bounded ones whose negatives are close.
func DefaultPair(information float64) Pair {
	return Pair{
		Information: information, Dim: 4, Negatives: 16, Squash: Sigmoid,
		Steps: 1500, Batch: 256, Rate: 0.05, Eval: 16384,
	}
}

// validate reports impossible settings.
func (p Pair) validate() error {
	if !(p.Information >= 0) || math.IsInf(p.Information, 1) || p.Dim < 1 || p.Negatives < 1 || p.Noise < 0 ||
		p.Steps < 0 || !(p.Rate > 0) || min(p.Batch, p.Eval) <= p.Negatives {
		return fmt.Errorf("theory: %+v: want finite information, noise and steps of at least 0, a coordinate, a rate "+
			"above 0, and more pairs in a batch than negatives, at least 1", p)
	}
	return nil
}

// correlation returns the correlation per coordinate that gives the true mutual information.
//
// paper:InfoNCE  I = −(d/2)·log(1 − ρ²)
func (p Pair) correlation() float64 {
	return math.Sqrt(-math.Expm1(-2 * p.Information / float64(p.Dim)))
}

// train fits a critic from zero weights by Adam (Kingma and Ba 2015) with its usual constants.
func (p Pair) train() (*critic, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	const keep1, keep2, epsilon = 0.9, 0.999, 1e-8
	c := newCritic(p.Dim, p.Negatives+1, p.Squash)
	grad, m1, m2 := make([]float64, len(c.weight)), make([]float64, len(c.weight)), make([]float64, len(c.weight))
	for step := range p.Steps {
		z, candidates := p.draw(p.Batch, rng.New(p.Seed, "theory/train", uint64(step)))
		clear(grad)
		for i := range z {
			c.loss(z[i], candidates[i], grad)
		}
		floats.Scale(1/float64(p.Batch), grad)
		fix1, fix2 := 1-math.Pow(keep1, float64(step+1)), 1-math.Pow(keep2, float64(step+1))
		for i, g := range grad {
			m1[i] = keep1*m1[i] + (1-keep1)*g
			m2[i] = keep2*m2[i] + (1-keep2)*g*g
			c.weight[i] -= p.Rate * m1[i] / fix1 / (math.Sqrt(m2[i]/fix2) + epsilon)
		}
	}
	return c, nil
}

// draw returns so many pairs: z [size][d] and the candidates of each [size][N+1,d], its partner f and the negatives.
// The negatives of a pair are the f of the next N pairs, which are independent of it, or its own f plus noise.
func (p Pair) draw(size int, r *rng.Rand) (z, candidates [][]float64) {
	rho := p.correlation()
	rest := math.Sqrt(1 - rho*rho)
	z, f := make([][]float64, size), make([][]float64, size)
	for i := range size {
		for range p.Dim {
			v := float64(r.Norm())
			z[i], f[i] = append(z[i], v), append(f[i], rho*v+rest*float64(r.Norm()))
		}
	}
	candidates = make([][]float64, size)
	for i := range size {
		row := make([]float64, 0, (p.Negatives+1)*p.Dim)
		row = append(row, f[i]...)
		for j := 1; j <= p.Negatives; j++ {
			if p.Noise == 0 {
				row = append(row, f[(i+j)%size]...)
				continue
			}
			for _, v := range f[i] {
				row = append(row, v+p.Noise*float64(r.Norm()))
			}
		}
		candidates[i] = row
	}
	return z, candidates
}

// tolerance is how far, in nats, an estimate may lie on the wrong side of the true mutual information. Beyond it, a
// bound counts as violated. It is a few standard errors of the estimates from 16,384 pairs.
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
	z, candidates := p.draw(p.Eval, rng.New(p.Seed, "theory/judge"))
	for i := range z {
		for k, v := range terms(c.score(z[i], candidates[i])) {
			mean[k] += v / float64(p.Eval)
		}
	}
	return mean
}

// terms are one pair's parts of the estimates. The first of the scores [N+1] is the true partner's.
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

// BoundedLimit is the largest value of a sound lower bound with scores in [0,1] and n negatives: less than one nat.
func BoundedLimit(n int) float64 {
	return math.Log(float64(n+1) * math.E / (float64(n) + math.E))
}

// Squash names the function from the critic's number g to its score c.
type Squash string

// The two critics compared. The paper's scores lie in [0,1].
const (
	Unbounded Squash = "none"    // c = g
	Sigmoid   Squash = "sigmoid" // c = 1/(1+e^{−g})
)

// critic is g(z,f), linear in the features zᵢfₖ, zᵢ, fₖ, zᵢ², fₖ² and 1. These contain the exact log-ratio
// log p(f|z)/p(f) of any Gaussian pair with independent coordinates.
type critic struct {
	squash   Squash
	weight   []float64   // [d²+4d+1], in the order of the features; zeros: z and f are independent
	features [][]float64 // of the candidates scored last [N+1, d²+4d+1]
	scores   []float64   // [N+1]
}

func newCritic(dim, candidates int, squash Squash) *critic {
	return &critic{squash, make([]float64, dim*dim+4*dim+1), make([][]float64, candidates), make([]float64, candidates)}
}

// score returns c of z [d] and every candidate [N+1, d], valid until the next call. Candidate 0 is the true partner of
// z.
func (c *critic) score(z, candidates []float64) []float64 {
	for j := range c.scores {
		f, row := candidates[j*len(z):][:len(z)], c.features[j][:0]
		for _, v := range z {
			for _, w := range f {
				row = append(row, v*w)
			}
		}
		row = append(append(row, z...), f...)
		for _, v := range row[len(row)-2*len(z):] {
			row = append(row, v*v)
		}
		c.features[j] = append(row, 1)
		c.scores[j] = floats.Dot(c.weight, c.features[j])
		if c.squash == Sigmoid {
			c.scores[j] = 1 / (1 + math.Exp(-c.scores[j]))
		}
	}
	return c.scores
}

// loss returns the loss that InfoNCE training minimises for one z and its candidates, and adds its gradient to grad,
// laid out like weight.
//
// paper:InfoNCE  L = −log( e^{c⁺} / (e^{c⁺} + Σ_j e^{c⁻_j}) )
func (c *critic) loss(z, candidates, grad []float64) float64 {
	scores := c.score(z, candidates)
	total := floats.LogSumExp(scores)
	for j, v := range scores {
		slope := math.Exp(v - total) // ∂L/∂c, then ∂L/∂g
		if j == 0 {
			slope--
		}
		if c.squash == Sigmoid {
			slope *= v * (1 - v)
		}
		floats.AddScaled(grad, slope, c.features[j])
	}
	return total - scores[0]
}
