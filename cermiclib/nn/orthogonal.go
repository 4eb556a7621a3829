// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"

	"cermic/envs/rng"
)

// Orthogonal draws weights whose rows or columns, whichever are fewer, are orthogonal to each other and of length
// gain (Saxe et al. 2014; torch's orthogonal_). The last two dimensions are those of one matrix; dimensions before
// them count matrices, which are drawn independently of each other.
func Orthogonal(gain float64) Init {
	return func(r *rng.Rand, dst []float32, dims []int) {
		rows, cols := dims[len(dims)-2], dims[len(dims)-1]
		for ; len(dst) > 0; dst = dst[rows*cols:] {
			count, length := min(rows, cols), max(rows, cols)
			for i, v := range orthonormal(r, count, length) {
				for k, x := range v {
					if rows <= cols {
						dst[i*cols+k] = float32(gain * x)
					} else {
						dst[k*cols+i] = float32(gain * x)
					}
				}
			}
		}
	}
}

// orthonormal draws count vectors [count][length], count ≤ length, uniformly among all orthonormal ones: normal
// vectors, each without its projections on those before it (Gram and Schmidt).
func orthonormal(r *rng.Rand, count, length int) [][]float64 {
	out := make([][]float64, count)
	for i := range out {
		v := make([]float64, length)
		for k := range v {
			v[k] = float64(r.Norm())
		}
		for range 2 { // the second time removes what rounding has left
			for _, u := range out[:i] {
				dot := inner(u, v)
				for k := range v {
					v[k] -= dot * u[k]
				}
			}
		}
		norm := math.Sqrt(inner(v, v))
		for k := range v {
			v[k] /= norm
		}
		out[i] = v
	}
	return out
}

// inner is the product of two vectors of one length.
func inner(u, v []float64) (sum float64) {
	for k := range u {
		sum += u[k] * v[k]
	}
	return sum
}
