// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// ellipsoid is Λ = λI + Σ w·ηηᵀ [D,D] and what ηᵀΛ⁻¹η needs of it, in float64: sums of a million outer products of features that
// hardly differ lose what tells them apart in float32.
type ellipsoid struct {
	sum    blas64.Symmetric  // Λ, upper triangle
	factor blas64.Triangular // U of Λ = UᵀU
	scale  scaling           // of features
	block  blas64.General    // [ellipsoidRows,D] η of a few steps at once
	rows   []int             // which these are
}

// ellipsoidRows is the number of steps whose outer products are added at once.
const ellipsoidRows = 256

func newEllipsoid(s scaling, lambda float64) *ellipsoid {
	dims := len(s.by) + 1
	e := &ellipsoid{
		scale: s,
		sum:   blas64.Symmetric{N: dims, Stride: dims, Data: make([]float64, dims*dims), Uplo: blas.Upper},
		block: blas64.General{Cols: dims, Stride: dims, Data: make([]float64, ellipsoidRows*dims)},
	}
	for i := range dims {
		e.sum.Data[i*dims+i] = lambda
	}
	return e
}

// add adds w·ηηᵀ for each of the features [B,D-1] that counts.
func (e *ellipsoid) add(features []float32, counts func(row int) bool, w float64) {
	e.blocks(features, counts, func() { blas64.Syrk(blas.Trans, w, e.block, 1, e.sum) })
}

// factorise computes U; distance needs it.
func (e *ellipsoid) factorise() error {
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(e.sum.N, e.sum.Data)) {
		return errors.New("cermic: the elliptical bonus got features that are not finite, or beyond float64 beside int_form.lambda; raise that")
	}
	var u mat.TriDense
	c.UTo(&u)
	e.factor = u.RawTriangular()
	return nil
}

// distance writes ηᵀΛ⁻¹η of each of the features [B,D-1] that counts into dst [B].
func (e *ellipsoid) distance(dst, features []float32, counts func(row int) bool) {
	d := e.sum.N
	e.blocks(features, counts, func() {
		blas64.Trsm(blas.Right, blas.NoTrans, 1, e.factor, e.block) // η U⁻¹, whose square length is ηᵀΛ⁻¹η
		for k, row := range e.rows {
			total := 0.0
			for _, v := range e.block.Data[k*d : (k+1)*d] {
				total += v * v
			}
			dst[row] = float32(total)
		}
	})
}

// blocks calls f with η of the features that count in e.block, a few at a time.
func (e *ellipsoid) blocks(features []float32, counts func(row int) bool, f func()) {
	d := e.sum.N
	flush := func() {
		if e.block.Rows = len(e.rows); e.block.Rows > 0 {
			f()
		}
		e.rows = e.rows[:0]
	}
	for row := range len(features) / (d - 1) {
		if !counts(row) {
			continue
		}
		k := len(e.rows)
		e.scale.eta(e.block.Data[k*d:(k+1)*d], features[row*(d-1):(row+1)*(d-1)])
		if e.rows = append(e.rows, row); len(e.rows) == ellipsoidRows {
			flush()
		}
	}
	flush()
}

// scaling makes η of features: (v - shift)·by for each, and a constant.
type scaling struct{ shift, by []float64 } // [D-1]

// eta writes η [D] of features [D-1].
func (s scaling) eta(dst []float64, features []float32) {
	for i, v := range features {
		dst[i] = (float64(v) - s.shift[i]) * s.by[i]
	}
	dst[len(features)] = 1
}

// moments are sums over features.
type moments struct {
	count       float64
	sum, square []float64
}

// add takes in the features [B,width] that count.
func (m *moments) add(features []float32, width int, counts func(row int) bool) {
	if m.sum == nil {
		m.sum, m.square = make([]float64, width), make([]float64, width)
	}
	for row := range len(features) / width {
		if !counts(row) {
			continue
		}
		m.count++
		for i, v := range features[row*width : (row+1)*width] {
			m.sum[i] += float64(v)
			m.square[i] += float64(v) * float64(v)
		}
	}
}

// scalingTiny is the least scale of a feature: one that never changes is left out, not blown up.
const scalingTiny = 1e-6

// scaling is how how, a scale of Elliptical, wants the features scaled.
func (m *moments) scaling(how string, width int) scaling {
	s := scaling{make([]float64, width), make([]float64, width)}
	count, all := max(m.count, 1), 0.0
	for _, q := range m.square {
		all += q / count / float64(width)
	}
	for i := range width {
		if how == ScaleRMS {
			s.by[i] = 1 / max(math.Sqrt(all), scalingTiny)
			continue
		}
		s.shift[i] = m.sum[i] / count
		deviation := math.Sqrt(max(m.square[i]/count-s.shift[i]*s.shift[i], 0))
		s.by[i] = 1 / max(deviation, scalingTiny)
	}
	return s
}
