// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"cermic/envs/rng"
)

// Pair is one test of the mutual-information bounds: z and f are jointly Gaussian with equal correlation in every
// coordinate, so that their mutual information is known; a critic is trained by InfoNCE and judged on fresh pairs.
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

// DefaultPair returns the setting of the reference table. Bounded critics have settled after its steps. Unbounded ones
// have not for 4 nats or more, and neither have bounded ones whose negatives are close.
func DefaultPair(information float64) Pair {
	return Pair{
		Information: information, Dim: 4, Negatives: 16, Squash: Sigmoid,
		Steps: 1500, Batch: 256, Rate: 0.05, Eval: 16384,
	}
}

// validate reports the first setting that no test can have.
func (p Pair) validate() error {
	switch {
	case !(p.Information >= 0) || math.IsInf(p.Information, 1):
		return fmt.Errorf("theory: mutual information of %g nats, want a finite number, at least 0", p.Information)
	case p.Dim < 1 || p.Negatives < 1 || p.Noise < 0 || p.Steps < 0 || !(p.Rate > 0):
		return fmt.Errorf("theory: %+v: want at least 1 coordinate and 1 negative, noise and steps of at least 0 and a rate above 0", p)
	case min(p.Batch, p.Eval) <= p.Negatives:
		return fmt.Errorf("theory: batches of %d and %d pairs for %d negatives, want more pairs than negatives", p.Batch, p.Eval, p.Negatives)
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
		b := p.draw(p.Batch, rng.New(p.Seed, "theory/train", uint64(step)))
		clear(grad)
		for i := range p.Batch {
			c.loss(b.z[i*p.Dim:][:p.Dim], b.row(i), grad)
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

// batch holds pairs and what their negatives are made from.
type batch struct {
	Pair
	z, f       []float64 // [B,d]
	shift      []float64 // noise for the negatives [B,N,d]; empty when they are other pairs' f
	candidates []float64 // the current row's partner and negatives [N+1,d]
}

// draw returns so many pairs.
func (p Pair) draw(size int, r *rng.Rand) *batch {
	b := &batch{Pair: p, z: make([]float64, size*p.Dim), f: make([]float64, size*p.Dim)}
	rho := p.correlation()
	rest := math.Sqrt(1 - rho*rho)
	for i := range b.z {
		b.z[i] = float64(r.Norm())
		b.f[i] = rho*b.z[i] + rest*float64(r.Norm())
	}
	if p.Noise > 0 {
		b.shift = make([]float64, size*p.Negatives*p.Dim)
	}
	for i := range b.shift {
		b.shift[i] = p.Noise * float64(r.Norm())
	}
	return b
}

// row returns the candidates of pair i [N+1,d]: f_i, then its negatives, valid until the next call. Other pairs are
// independent of pair i, so the next N pairs, taken round the end, are draws from the marginal of f.
func (b *batch) row(i int) []float64 {
	d, size := b.Dim, len(b.z)/b.Dim
	own := b.f[i*d:][:d]
	b.candidates = append(b.candidates[:0], own...)
	for j := 1; j <= b.Negatives; j++ {
		if b.shift == nil {
			b.candidates = append(b.candidates, b.f[(i+j)%size*d:][:d]...)
			continue
		}
		for k, e := range b.shift[(i*b.Negatives+j-1)*d:][:d] {
			b.candidates = append(b.candidates, own[k]+e)
		}
	}
	return b.candidates
}
