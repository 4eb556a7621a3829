// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Squash names what turns the critic's number g into its score c.
type Squash string

// The two critics compared. The paper's scores lie in [0,1].
const (
	Unbounded Squash = "none"    // c = g
	Sigmoid   Squash = "sigmoid" // c = 1/(1+e^{−g})
)

// critic is g(z,f), linear in the features zᵢfₖ, zᵢ, fₖ, zᵢ², fₖ² and 1: enough to contain the exact log-ratio
// log p(f|z)/p(f) of any Gaussian pair with independent coordinates.
type critic struct {
	squash   Squash
	weight   []float64   // [d²+4d+1], in the order of the features; zeros: z and f are independent
	features [][]float64 // of the candidates scored last [N+1, d²+4d+1]
	scores   []float64   // [N+1]
}

func newCritic(dim, candidates int, squash Squash) *critic {
	c := &critic{squash: squash, weight: make([]float64, dim*dim+4*dim+1), scores: make([]float64, candidates)}
	for range candidates {
		c.features = append(c.features, make([]float64, 0, len(c.weight)))
	}
	return c
}

// score returns c of z [d] and every candidate [N+1, d], valid until the next call; candidate 0 is the true partner of z.
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
