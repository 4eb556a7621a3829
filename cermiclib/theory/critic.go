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

// critic is g(z,f) = zᵀWf + uᵀz + vᵀf + z²ᵀr + f²ᵀs + b with elementwise squares: enough to contain the exact log-ratio
// log p(f|z)/p(f) of any Gaussian pair with independent coordinates.
type critic struct {
	dim    int
	squash Squash
	weight []float64 // W [d,d], u [d], v [d], r [d], s [d], b; zeros: z and f are independent
}

func newCritic(dim int, squash Squash) *critic {
	return &critic{dim: dim, squash: squash, weight: make([]float64, dim*dim+4*dim+1)}
}

// parts splits weights, or a gradient of the same layout.
func (c *critic) parts(w []float64) (bilinear, z, f, zz, ff []float64, bias *float64) {
	d := c.dim
	rest := w[d*d:]
	return w[:d*d], rest[:d], rest[d:][:d], rest[2*d:][:d], rest[3*d:][:d], &rest[4*d]
}

// score fills scores [N+1] with c of z [d] and every candidate [N+1, d]; candidate 0 is the true partner of z.
func (c *critic) score(scores, z, candidates []float64) {
	d := c.dim
	bilinear, wz, wf, wzz, wff, bias := c.parts(c.weight)
	base := *bias
	slope := make([]float64, d) // zᵀW + v
	copy(slope, wf)
	for i, v := range z {
		base += v * (wz[i] + v*wzz[i])
		for k := range d {
			slope[k] += v * bilinear[i*d+k]
		}
	}
	for j := range scores {
		g := base
		for k, v := range candidates[j*d:][:d] {
			g += v * (slope[k] + v*wff[k])
		}
		scores[j] = g
	}
	if c.squash == Sigmoid {
		for j, g := range scores {
			scores[j] = 1 / (1 + math.Exp(-g))
		}
	}
}

// loss returns the loss that InfoNCE training minimises for one z and its candidates, and adds its gradient to grad,
// laid out like weight. scores and slope are scratch, [N+1] each.
//
// paper:InfoNCE  L = −log( e^{c⁺} / (e^{c⁺} + Σ_j e^{c⁻_j}) )
func (c *critic) loss(z, candidates, scores, slope, grad []float64) float64 {
	c.score(scores, z, candidates)
	shift := floats.LogSumExp(scores)
	for j, v := range scores {
		slope[j] = math.Exp(v - shift)
	}
	loss := -math.Log(slope[0])
	slope[0]-- // ∂L/∂c
	if c.squash == Sigmoid {
		for j, v := range scores {
			slope[j] *= v * (1 - v)
		}
	}
	c.backward(z, candidates, slope, grad)
	return loss
}

// backward adds Σ_j slope_j·∂g_j/∂weight to grad.
func (c *critic) backward(z, candidates, slope, grad []float64) {
	d := c.dim
	bilinear, gz, gf, gzz, gff, bias := c.parts(grad)
	total := 0.0
	sum := make([]float64, d) // Σ_j slope_j·f_j
	for j, s := range slope {
		total += s
		for k, v := range candidates[j*d:][:d] {
			sum[k] += s * v
			gff[k] += s * v * v
		}
	}
	*bias += total
	for i, v := range z {
		gz[i] += total * v
		gzz[i] += total * v * v
		gf[i] += sum[i]
		for k := range d {
			bilinear[i*d+k] += v * sum[k]
		}
	}
}
