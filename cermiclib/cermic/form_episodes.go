// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// episodes keeps Λ⁻¹ of the running episode of every agent of every environment. An episode that goes on into the next rollout
// keeps the Λ⁻¹ of the features that it had: they are one update old.
type episodes struct {
	dims    int
	lambda  float64
	Inverse []float64 // [E·N,D,D], upper triangles
	eta     blas64.Vector
	half    blas64.Vector // Λ⁻¹η
}

func newEpisodes(agents, dims int, lambda float64) (*episodes, error) {
	if bytes := 8 * agents * dims * dims; bytes > reservoirBytes {
		return nil, fmt.Errorf("cermic: int_form.scope keeps a matrix of %d by %d for each of %d agents, %d MiB, more than %d; "+
			"choose int_form.features=code, fewer environments, or scope=global", dims, dims, agents, bytes>>20, reservoirBytes>>20)
	}
	p := &episodes{dims: dims, lambda: lambda, Inverse: make([]float64, agents*dims*dims)}
	p.eta = blas64.Vector{N: dims, Inc: 1, Data: make([]float64, dims)}
	p.half = blas64.Vector{N: dims, Inc: 1, Data: make([]float64, dims)}
	for a := range agents {
		p.start(a)
	}
	return p, nil
}

// start forgets the episode of agent a, counted over all environments.
func (p *episodes) start(a int) {
	inverse := p.of(a).Data
	clear(inverse)
	for i := range p.dims {
		inverse[i*p.dims+i] = 1 / p.lambda
	}
}

func (p *episodes) of(a int) blas64.Symmetric {
	size := p.dims * p.dims
	return blas64.Symmetric{N: p.dims, Stride: p.dims, Uplo: blas.Upper, Data: p.Inverse[a*size : (a+1)*size]}
}

// visit returns ηᵀΛ⁻¹η of agent a's next step, with Λ of the steps before it in its episode, and takes it in (Sherman and Morrison):
// (Λ + ηηᵀ)⁻¹ = Λ⁻¹ − (Λ⁻¹η)(Λ⁻¹η)ᵀ / (1 + ηᵀΛ⁻¹η).
func (p *episodes) visit(a int, isFirst bool, features []float32, s scaling) float64 {
	if isFirst {
		p.start(a)
	}
	inverse := p.of(a)
	eta(s, p.eta.Data, features)
	blas64.Symv(1, inverse, p.eta, 0, p.half)
	x := max(blas64.Dot(p.eta, p.half), 0)
	blas64.Syr(-1/(1+x), p.half, inverse)
	return x
}
