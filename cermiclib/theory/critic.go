// SPDX-License-Identifier: Apache-2.0

package theory

import "math"

// Squash names what turns the critic's number g into its score c.
type Squash string

// The three critics compared. The paper has "bilinear+softmax" scores in [0,1], which either of the last two can mean.
const (
	Unbounded Squash = "none"    // c = g
	Sigmoid   Squash = "sigmoid" // c = 1/(1+e^{−g})
	Softmax   Squash = "softmax" // c = softmax of g over the candidates
)

// Critic is g(z,f) = zᵀWf + uᵀz + vᵀf + z²ᵀr + f²ᵀs + b with elementwise squares: enough to contain the exact log-ratio
// log p(f|z)/p(f) of any Gaussian pair with independent coordinates.
type Critic struct {
	Dim    int
	Squash Squash
	Weight []float64 // W [d,d], u [d], v [d], r [d], s [d], b
}

// NewCritic returns the critic with all weights zero, for which z and f are independent.
func NewCritic(dim int, squash Squash) *Critic {
	return &Critic{Dim: dim, Squash: squash, Weight: make([]float64, dim*dim+4*dim+1)}
}

// parts splits weights, or a gradient of the same layout.
func (c *Critic) parts(w []float64) (bilinear, z, f, zz, ff []float64, bias *float64) {
	d := c.Dim
	rest := w[d*d:]
	return w[:d*d], rest[:d], rest[d:][:d], rest[2*d:][:d], rest[3*d:][:d], &rest[4*d]
}

// Score fills scores [N+1] with c of z [d] and every candidate [N+1, d]; candidate 0 is the true partner of z.
func (c *Critic) Score(scores, z, candidates []float64) {
	d := c.Dim
	bilinear, wz, wf, wzz, wff, bias := c.parts(c.Weight)
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
	switch c.Squash {
	case Sigmoid:
		for j, g := range scores {
			scores[j] = 1 / (1 + math.Exp(-g))
		}
	case Softmax:
		softmax(scores, scores)
	}
}

// Loss returns the loss that InfoNCE training minimises for one z and its candidates, and adds its gradient to grad, laid
// out like Weight. scores and slope are scratch, [N+1] each.
//
// paper:InfoNCE  L = −log( e^{c⁺} / (e^{c⁺} + Σ_j e^{c⁻_j}) )
func (c *Critic) Loss(z, candidates, scores, slope, grad []float64) float64 {
	c.Score(scores, z, candidates)
	softmax(slope, scores)
	loss := -math.Log(slope[0])
	slope[0]-- // ∂L/∂c
	switch c.Squash {
	case Sigmoid:
		for j, v := range scores {
			slope[j] *= v * (1 - v)
		}
	case Softmax:
		mean := 0.0
		for j, v := range scores {
			mean += v * slope[j]
		}
		for j, v := range scores {
			slope[j] = v * (slope[j] - mean)
		}
	}
	c.backward(z, candidates, slope, grad)
	return loss
}

// backward adds Σ_j slope_j·∂g_j/∂Weight to grad.
func (c *Critic) backward(z, candidates, slope, grad []float64) {
	d := c.Dim
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

// softmax fills dst with e^x/Σe^x; dst and x may be the same.
func softmax(dst, x []float64) {
	shift := logSumExp(x)
	for j, v := range x {
		dst[j] = math.Exp(v - shift)
	}
}

// logSumExp is log Σ e^x without overflow.
func logSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}
