// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/mat"

	"cermic/cermiclib/nn"
)

// ellipsoidRows is the number of steps whose outer products, or distances, one call of a graph makes: of the rollouts and samples of today's
// budgets few rows are left over.
const ellipsoidRows = 768

// algebra holds the graphs that do the work of an ellipsoid, η of ellipsoidRows steps at a time: XLA multiplies matrices fifty times as
// fast as plain Go does.
type algebra struct {
	dims  int         // D
	outer *nn.Program // η [R,D] to Σ ηηᵀ [D,D] in two parts; where steps have weights w of their own, also the unit of splitOuter and √w [R]
	far   *nn.Program // η [R,D] and U⁻¹ [D,D] to |ηU⁻¹|² [R]
	block []float32   // [2,D,D] what outer returned
}

// newAlgebra compiles them for η of dims numbers; weighted where every step has a weight of its own.
func newAlgebra(b *nn.Build, dims int, weighted bool) (a *algebra, err error) {
	a = &algebra{dims: dims, block: make([]float32, 2*dims*dims)}
	eta := nn.F32("eta", ellipsoidRows, dims)
	inputs, outer := []nn.Input{eta}, doubleOuter
	if weighted {
		inputs, outer = append(inputs, nn.F32("unit"), nn.F32("root", ellipsoidRows)), splitOuter
	}
	a.outer, err = nn.NewProgram(b, "cermic.outer", inputs, func(_ *model.Scope, in []*graph.Node) []*graph.Node { return outer(in) })
	if err != nil {
		return nil, err
	}
	a.far, err = nn.NewProgram(b, "cermic.distance", []nn.Input{eta, nn.F32("inverse", dims, dims)}, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{triangularDistance(in[0], in[1])}
	})
	return a, err
}

// triangularDistance is |ηU⁻¹|² [R]; half of the columns of the triangle U⁻¹ need half of its rows.
func triangularDistance(eta, inverse *graph.Node) *graph.Node {
	half, all := inverse.Shape().Dimensions[0]/2, graph.AxisRange()
	squares := func(x, y *graph.Node) *graph.Node {
		return graph.ReduceSum(graph.Square(graph.Dot(x, y).Product()), -1)
	}
	right := squares(eta, graph.Slice(inverse, all, graph.AxisRange(half)))
	if half == 0 {
		return right
	}
	return graph.Add(squares(graph.Slice(eta, all, graph.AxisRange(0, half)), graph.Slice(inverse, graph.AxisRange(0, half), graph.AxisRange(0, half))), right)
}

// doubleOuter sums in float64. Outputs are float32: the sum, and what that leaves of it.
func doubleOuter(in []*graph.Node) []*graph.Node {
	x := graph.ConvertDType(in[0], dtypes.Float64)
	sum := graph.Dot(graph.Transpose(x, 0, 1), x).Product()
	top := graph.ConvertDType(sum, dtypes.Float32)
	return []*graph.Node{top, graph.ConvertDType(graph.Sub(sum, graph.ConvertDType(top, dtypes.Float64)), dtypes.Float32)}
}

// splitOuter does as well in half of the time, since a product of float64 takes longer than two of float32. With η = h·u + l, u a power of two and h a whole
// number of at most coarse, Σ hhᵀ over a block is exact in float32, and what is left is so small beside it that its own rounding does no harm.
// It returns Σ hhᵀ, to be multiplied by u², and the rest.
func splitOuter(in []*graph.Node) []*graph.Node {
	x, unit := graph.Mul(in[0], graph.InsertAxes(in[2], -1)), in[1]
	whole := graph.Round(graph.Div(x, unit))
	high := graph.Mul(whole, unit)
	low := graph.Sub(x, high)
	rest := graph.Dot(graph.Transpose(low, 0, 1), graph.Add(x, high)).Product() // Σ ηηᵀ - u²·Σ hhᵀ is the symmetric part of Σ l·(η+hu)ᵀ
	return []*graph.Node{graph.Dot(graph.Transpose(whole, 0, 1), whole).Product(), graph.MulScalar(graph.Add(rest, graph.Transpose(rest, 0, 1)), 0.5)}
}

// ellipsoid is Λ = λI + Σ w·ηηᵀ [D,D] and what ηᵀΛ⁻¹η needs of it. Λ is summed and factorised in float64, since sums of a million outer
// products that hardly differ lose in float32 what tells them apart.
type ellipsoid struct {
	*algebra
	sum     *mat.SymDense // Λ
	inverse []float32     // U⁻¹ [D,D] of Λ = UᵀU
	scale   scaling       // of features
	rows    []int         // which steps are in the block
}

func newEllipsoid(a *algebra, s scaling, lambda float64) *ellipsoid {
	e := &ellipsoid{algebra: a, scale: s, sum: mat.NewSymDense(a.dims, nil)}
	for i := range a.dims {
		e.sum.SetSym(i, i, lambda)
	}
	return e
}

// add adds w·ηηᵀ for each agent step that counts.
func (e *ellipsoid) add(features *alike, counts func(row int) bool, w float64) error {
	return e.addBlocks(features, counts, w, func([]float32) float64 { return 1 })
}

// addWeighted is add for steps that have weights of their own.
func (e *ellipsoid) addWeighted(features *alike, counts func(row int) bool, w func(row int) float64) error {
	roots := make([]float32, ellipsoidRows)
	return e.addBlocks(features, counts, 1, func(block []float32) float64 {
		clear(roots)
		for k, row := range e.rows {
			roots[k] = float32(math.Sqrt(w(row)))
		}
		unit := unitOf(e.largest(block, roots))
		e.outer.Feed(1, func(dst []float32) { dst[0] = float32(unit) })
		e.outer.Feed(2, func(dst []float32) { copy(dst, roots) })
		return unit
	})
}

// largest is a bound on the numbers of √w·η of a block.
func (e *ellipsoid) largest(block, roots []float32) float32 {
	if e.scale.ready() {
		return math.Sqrt2 * slices.Max(roots)
	}
	largest := float32(0)
	for k, root := range roots {
		for _, v := range block[k*e.dims : (k+1)*e.dims] {
			largest = max(largest, root*v, -root*v)
		}
	}
	return largest
}

// addBlocks adds w·ηηᵀ; unit is that of the first part of what outer makes of a block.
func (e *ellipsoid) addBlocks(features *alike, counts func(row int) bool, all float64, unit func(block []float32) float64) error {
	sum := e.sum.RawSymmetric().Data
	var u float64
	return e.blocks(e.outer, features, counts, func(block []float32) { u = unit(block) }, func() {
		top, rest := e.block[:len(sum)], e.block[len(sum):]
		e.outer.Read(0, top)
		e.outer.Read(1, rest)
		for i := range sum {
			sum[i] += all * (float64(top[i])*u*u + float64(rest[i]))
		}
	})
}

// factorise computes U⁻¹ of Λ = UᵀU; distance needs it.
func (e *ellipsoid) factorise() error {
	var c mat.Cholesky
	if !c.Factorize(e.sum) {
		return errors.New("cermic: the elliptical bonus got features that are not finite, or beyond float64 beside int_form.lambda; raise that")
	}
	var u, inverse mat.TriDense
	c.UTo(&u)
	if err := inverse.InverseTri(&u); err != nil {
		return fmt.Errorf("cermic: the elliptical bonus got features that differ too much; raise int_form.lambda (%w)", err)
	}
	e.inverse = make([]float32, e.dims*e.dims)
	for i := range e.dims {
		for j := i; j < e.dims; j++ {
			e.inverse[i*e.dims+j] = float32(inverse.At(i, j))
		}
	}
	return nil
}

// distance writes ηᵀΛ⁻¹η of each agent step that counts into dst [B].
func (e *ellipsoid) distance(dst []float32, features *alike, counts func(row int) bool) error {
	wanted := make([]bool, len(features.flat)/features.width)
	for row, at := range features.of {
		wanted[at] = wanted[at] || counts(row)
	}
	once, far := different(features.flat, features.width), make([]float32, ellipsoidRows)
	distances := make([]float32, once.rows())
	e.far.Feed(1, func(dst []float32) { copy(dst, e.inverse) })
	err := e.blocks(e.far, once, func(row int) bool { return wanted[row] }, func([]float32) {}, func() {
		e.far.Read(0, far)
		for k, row := range e.rows {
			distances[row] = far[k]
		}
	})
	for row, at := range features.of {
		if counts(row) {
			dst[row] = distances[at]
		}
	}
	return err
}

// coarse is the largest whole part of η in units of unitOf: products of two of them, ellipsoidRows times, add up to what float32 holds exactly.
const coarse = 128

// unitOf is the power of two in which numbers up to largest are at most coarse.
func unitOf(largest float32) float64 {
	_, exponent := math.Frexp(float64(largest)) // largest < 2^exponent
	return math.Ldexp(1/float64(coarse), min(max(exponent, unitSmallest), unitLargest))
}

// Exponents beyond these would make units of float32 that are no powers of two, or infinite.
const unitSmallest, unitLargest = -100, 120

// blocks runs p with η of the features that count, ellipsoidRows at a time and the rest filled up with zeros; it calls prepare with each block before, and
// f after it has run.
func (e *ellipsoid) blocks(p *nn.Program, features *alike, counts func(row int) bool, prepare func(block []float32), f func()) error {
	for row := 0; row < features.rows(); {
		p.Feed(0, func(flat []float32) {
			for e.rows = e.rows[:0]; len(e.rows) < ellipsoidRows && row < features.rows(); row++ {
				if counts(row) {
					k := len(e.rows)
					to := flat[k*e.dims : (k+1)*e.dims]
					if from := features.row(row); e.scale.ready() {
						copy(to, from)
					} else {
						eta(e.scale, to, from)
					}
					e.rows = append(e.rows, row)
				}
			}
			clear(flat[len(e.rows)*e.dims:])
			prepare(flat)
		})
		if len(e.rows) == 0 {
			break
		}
		if err := p.Run(); err != nil {
			return err
		}
		f()
	}
	return nil
}

// scaling makes η of features: (v - shift)·by for each, and a constant; where by is nil, features are η.
type scaling struct{ shift, by []float64 } // [D-1]

func (s scaling) ready() bool { return s.by == nil }

// eta writes η [D] of features [D-1], or [D].
func eta[T float32 | float64](s scaling, dst []T, features []float32) {
	if s.ready() {
		for i, v := range features {
			dst[i] = T(v)
		}
		return
	}
	for i, v := range features {
		dst[i] = T((float64(v) - s.shift[i]) * s.by[i])
	}
	dst[len(features)] = 1
}

// moments are sums over features.
type moments struct {
	count       float64
	sum, square []float64
}

// add takes in the features of the agent steps that count.
func (m *moments) add(features *alike, counts func(row int) bool) {
	if m.sum == nil {
		m.sum, m.square = make([]float64, features.width), make([]float64, features.width)
	}
	for row := range features.rows() {
		if !counts(row) {
			continue
		}
		m.count++
		for i, v := range features.row(row) {
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
