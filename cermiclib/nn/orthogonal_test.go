// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"testing"

	"cermic/envs/rng"
)

// TestOrthogonalMatricesHaveTheirGain: the smaller of WᵀW and WWᵀ is gain² times the identity, in each of several
// matrices.
func TestOrthogonalMatricesHaveTheirGain(t *testing.T) {
	for _, dims := range [][]int{{3, 7}, {7, 3}, {2, 4, 4}, {2, 5, 2}} {
		rows, cols := dims[len(dims)-2], dims[len(dims)-1]
		groups := 1
		if len(dims) == 3 {
			groups = dims[0]
		}
		w := make([]float32, groups*rows*cols)
		Orthogonal(math.Sqrt2)(rng.New(1, "weights"), w, dims)
		for g := range groups {
			m := w[g*rows*cols : (g+1)*rows*cols]
			for i := range min(rows, cols) {
				for j := range min(rows, cols) {
					dot := 0.0
					for k := range max(rows, cols) {
						if rows <= cols {
							dot += float64(m[i*cols+k]) * float64(m[j*cols+k])
						} else {
							dot += float64(m[k*cols+i]) * float64(m[k*cols+j])
						}
					}
					want := 0.0
					if i == j {
						want = 2
					}
					if math.Abs(dot-want) > 1e-5 { // float32
						t.Errorf("%v, matrix %d: the product of vectors %d and %d is %g, want %g", dims, g, i, j, dot, want)
					}
				}
			}
		}
		if groups == 2 && w[0] == w[rows*cols] {
			t.Errorf("%v: both matrices are the same", dims)
		}
	}
}
