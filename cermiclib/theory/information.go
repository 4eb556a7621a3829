// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"fmt"
	"math"

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

// train fits a critic from zero weights.
func (p Pair) train() (*critic, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	c := newCritic(p.Dim, p.Squash)
	b := newBatch(p, p.Batch)
	scores, slope := make([]float64, p.Negatives+1), make([]float64, p.Negatives+1)
	grad := make([]float64, len(c.weight))
	optimiser := newAdam(p.Rate, len(c.weight))
	for step := range p.Steps {
		b.draw(p, rng.New(p.Seed, "theory/train", uint64(step)))
		clear(grad)
		for i := range p.Batch {
			c.loss(b.z[i*p.Dim:][:p.Dim], b.row(i), scores, slope, grad)
		}
		for i := range grad {
			grad[i] /= float64(p.Batch)
		}
		optimiser.step(c.weight, grad)
	}
	return c, nil
}

// batch holds pairs and what their negatives are made from.
type batch struct {
	dim, negatives int
	noise          float64
	z, f           []float64 // [B,d]
	shift          []float64 // noise for the negatives [B,N,d]; empty when they are other pairs' f
	candidates     []float64 // the current row's partner and negatives [N+1,d]
}

func newBatch(p Pair, size int) *batch {
	b := &batch{
		dim: p.Dim, negatives: p.Negatives, noise: p.Noise,
		z: make([]float64, size*p.Dim), f: make([]float64, size*p.Dim),
		candidates: make([]float64, (p.Negatives+1)*p.Dim),
	}
	if p.Noise > 0 {
		b.shift = make([]float64, size*p.Negatives*p.Dim)
	}
	return b
}

func (b *batch) draw(p Pair, r *rng.Rand) {
	rho := p.correlation()
	rest := math.Sqrt(1 - rho*rho)
	for i := range b.z {
		b.z[i] = float64(r.Norm())
		b.f[i] = rho*b.z[i] + rest*float64(r.Norm())
	}
	for i := range b.shift {
		b.shift[i] = b.noise * float64(r.Norm())
	}
}

// row returns the candidates of pair i [N+1,d]: f_i, then its negatives, valid until the next call. Other pairs are
// independent of pair i, so the next N pairs, taken round the end, are draws from the marginal of f.
func (b *batch) row(i int) []float64 {
	d, size := b.dim, len(b.z)/b.dim
	own := b.f[i*d:][:d]
	copy(b.candidates, own)
	for j := 1; j <= b.negatives; j++ {
		dst := b.candidates[j*d:][:d]
		if b.noise == 0 {
			copy(dst, b.f[(i+j)%size*d:][:d])
			continue
		}
		for k, e := range b.shift[(i*b.negatives+j-1)*d:][:d] {
			dst[k] = own[k] + e
		}
	}
	return b.candidates
}

// adam is the optimiser of Kingma and Ba (2015) with its usual constants.
type adam struct {
	rate   float64
	steps  int
	m1, m2 []float64
}

func newAdam(rate float64, size int) *adam {
	return &adam{rate: rate, m1: make([]float64, size), m2: make([]float64, size)}
}

func (a *adam) step(weight, grad []float64) {
	const keep1, keep2, epsilon = 0.9, 0.999, 1e-8
	a.steps++
	fix1, fix2 := 1-math.Pow(keep1, float64(a.steps)), 1-math.Pow(keep2, float64(a.steps))
	for i, g := range grad {
		a.m1[i] = keep1*a.m1[i] + (1-keep1)*g
		a.m2[i] = keep2*a.m2[i] + (1-keep2)*g*g
		weight[i] -= a.rate * a.m1[i] / fix1 / (math.Sqrt(a.m2[i]/fix2) + epsilon)
	}
}
