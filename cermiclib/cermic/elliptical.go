// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"unsafe"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Elliptical is the information gain of the paper's Theorem 1 on the code: large where the earlier agent steps say
// little about this one. The theorem's r^i is its root. Here the gain itself is the bonus, called Theorem 1's bonus.
//
//	η = [x̄_t / scale, 1]   Λ = λI + Σ ηηᵀ over the agent steps of earlier rollout batches   r^i = ½·log(1 + ηᵀΛ⁻¹η)
//
// Relation to eq:int_r: suppose that s_{t+1} is linear in η with Gaussian noise. For each component of s_{t+1}, r^i is
// then exactly the mean of the KL between posterior and prior on the left side. No q(x) replaces the prior (D31). The
// code changes while Θ learns. So each rollout batch rebuilds Λ from a reservoir of earlier agent steps, with their
// current codes.
//
// Theorem 1: r^ucb = ζ·(ηᵀΛ⁻¹η)^½, within a factor √2 of √(½·log(1+x)) where x ≤ 2.51
type Elliptical struct {
	Lambda    float64 `json:"lambda" range:"(0..)" help:"ridge term λ of Λ; smaller values resolve smaller differences of features"`
	Reservoir int     `json:"reservoir" range:"1..10000000" help:"number of kept agent steps, over all agents"`

	// Former settings.
	_ conf.Constant `key:"features" value:"code"`
}

// reservoirBytes is the most that a reservoir may take.
const reservoirBytes = 256 << 20

// DefaultElliptical returns the bonus on the code.
func DefaultElliptical() Elliptical {
	return Elliptical{Lambda: 0.1, Reservoir: 4096}
}

// Kind is "elliptical".
func (Elliptical) Kind() string { return "elliptical" }

func (e Elliptical) build(c Config, b *nn.Build) (form, error) {
	f := &elliptical{Elliptical: e, width: c.Latent}
	var err error
	if f.past, err = newReservoir(e.Reservoir, b.Spec.InLen(), b.Spec.Act.Len(), b.Seed); err != nil {
		return nil, err
	}
	f.scorer, err = newScorer(b, "cermic.features", func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		mean, _ := c.latent(sc, c.embed(sc, b.Spec, in[0]), in[1])
		return []*graph.Node{mean}
	})
	return f, err
}

// elliptical is an Elliptical in a running experiment.
type elliptical struct {
	Elliptical
	*scorer
	width    int // F, of the features: the mean of x_t
	past     *reservoir
	scale    float64       // root mean square of the features that Λ is made of
	inverse  *mat.TriDense // U⁻¹ [D,D] of Λ = UᵀU, D = F+1; nil before the first rollout
	now, old distinct      // features of the rollout and of the reservoir
}

// observe fills f.now with the features of x.
func (f *elliptical) observe(ctx context.Context, x *rl.Rollout) error {
	return f.measure(ctx, &f.now, x.Rows(), stepsOf(x))
}

func (f *elliptical) reward(ctx context.Context, dst []float32, x *rl.Rollout) error {
	if err := f.observe(ctx, x); err != nil {
		return err
	}
	if err := f.learn(ctx, x); err != nil {
		return err
	}
	far := f.distances(&f.now)
	gains(dst, far, x.Alive)
	f.past.resample(x, stepsOf(x), f.distances(&f.old), far)
	return nil
}

// look rates x by the current Λ. Without one, as with the weights of a record, it builds Λ from the kept steps, or else
// from x.
func (f *elliptical) look(ctx context.Context, dst []float32, x *rl.Rollout) error {
	if err := f.observe(ctx, x); err != nil {
		return err
	}
	if f.inverse == nil {
		if err := f.learn(ctx, x); err != nil {
			return err
		}
	}
	gains(dst, f.distances(&f.now), x.Alive)
	return nil
}

// measure fills dst with the features of rows agent steps.
func (f *elliptical) measure(ctx context.Context, dst *distinct, rows int, from steps) error {
	first := dst.find(from, rows, f.past.obs, f.past.act)
	size := len(first) * f.width
	dst.flat = slices.Grow(dst.flat[:0], size)[:size]
	return f.each(ctx, len(first), from.only(first), func(_, k int, features []float32) {
		copy(dst.at(k, f.width), features)
	})
}

// learn builds Λ from the kept steps. If there are none, it uses beside, the rollout whose features are in f.now.
func (f *elliptical) learn(ctx context.Context, beside *rl.Rollout) error {
	if err := f.measure(ctx, &f.old, f.past.rows(), f.past.steps()); err != nil {
		return err
	}
	if f.past.rows() > 0 {
		return f.factorise(&f.old, f.old.weights(func(k int) float64 { return f.past.Weight[k] }))
	}
	return f.factorise(&f.now, f.now.weights(func(row int) float64 { return float64(beside.Alive[row]) }))
}

// factorise computes U⁻¹ of Λ = λI + Σ w·ηηᵀ over features with these weights.
func (f *elliptical) factorise(of *distinct, weights []float64) error {
	squares, total := 0.0, 0.0
	for k, w := range weights {
		for _, v := range of.at(k, f.width) {
			squares += w * float64(v) * float64(v)
		}
		total += w * float64(f.width)
	}
	f.scale = max(math.Sqrt(squares/max(total, 1)), scaleTiny)
	d := f.width + 1
	sum := mat.NewSymDense(d, nil)
	for i := range d {
		sum.SetSym(i, i, f.Lambda)
	}
	eta := blas64.Vector{N: d, Inc: 1, Data: make([]float64, d)}
	for k, w := range weights {
		if w > 0 {
			f.eta(eta.Data, of.at(k, f.width))
			blas64.Syr(w, eta, sum.RawSymmetric())
		}
	}
	var c mat.Cholesky
	var u mat.TriDense
	if !c.Factorize(sum) {
		return errors.New("cermic: the elliptical bonus got features that are not finite, or beyond float64 beside " +
			"int_form.lambda; raise that")
	}
	c.UTo(&u)
	f.inverse = new(mat.TriDense)
	if err := f.inverse.InverseTri(&u); err != nil {
		return fmt.Errorf("cermic: the elliptical bonus got features that differ too much; raise int_form.lambda (%w)", err)
	}
	return nil
}

// scaleTiny is the least scale of features.
const scaleTiny = 1e-6

// eta writes η [D] of features [F].
func (f *elliptical) eta(dst []float64, features []float32) {
	for i, v := range features {
		dst[i] = float64(v) / f.scale
	}
	dst[f.width] = 1
}

// distances returns x = ηᵀΛ⁻¹η [B] of agent steps with these features.
func (f *elliptical) distances(features *distinct) []float64 {
	d := f.width + 1
	far, eta := make([]float64, features.count()), blas64.Vector{N: d, Inc: 1, Data: make([]float64, d)}
	for k := range far {
		f.eta(eta.Data, features.at(k, f.width))
		blas64.Trmv(blas.Trans, f.inverse.RawTriangular(), eta) // U⁻ᵀη
		far[k] = blas64.Dot(eta, eta)
	}
	x := make([]float64, len(features.of))
	for row, k := range features.of {
		x[row] = far[k]
	}
	return x
}

// gains writes ½·log(1+x) of agent steps into dst [B], 0 for the dead; alive is nil where all live.
func gains(dst []float32, far []float64, alive []uint8) {
	for row, x := range far {
		if dst[row] = 0; alive == nil || alive[row] != 0 {
			dst[row] = float32(0.5 * math.Log1p(x))
		}
	}
}

// Save returns the reservoir.
func (f *elliptical) Save() []byte { return f.past.save() }

// Load continues from what Save returned, with any number of environments.
func (f *elliptical) Load(state []byte) error {
	f.inverse = nil
	return f.past.load(state)
}

// distinct holds features [U,F] of agent steps, once for all steps with the same input. In a world of few states,
// thousands of steps share a dozen inputs. Neither features nor distances are then computed twice.
type distinct struct {
	flat []float32 // [U,F]
	of   []int32   // [B] which of the U a step has
}

// at is the k-th of the U features.
func (d *distinct) at(k, width int) []float32 { return d.flat[k*width : (k+1)*width] }

// count is U.
func (d *distinct) count() int {
	if len(d.of) == 0 {
		return 0
	}
	return int(slices.Max(d.of)) + 1
}

// weights sums the weights of the agent steps that share each of the U features.
func (d *distinct) weights(of func(row int) float64) []float64 {
	w := make([]float64, d.count())
	for row, at := range d.of {
		w[at] += of(row)
	}
	return w
}

// find fills d.of for rows agent steps and returns the first step of each of the U distinct inputs. Inputs are compared
// bit for bit.
func (d *distinct) find(f steps, rows, obs, act int) (first []int) {
	one, other, seed := make([]float32, obs+act), make([]float32, obs+act), maphash.MakeSeed()
	read := func(to []float32, row int) []byte {
		f.obs(to[:obs], row)
		f.act(to[obs:], row)
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(to))), 4*len(to))
	}
	d.of = slices.Grow(d.of[:0], rows)[:rows]
	known := make(map[uint64]int32)
	for row := range d.of {
		bits := read(one, row)
		name := maphash.Bytes(seed, bits)
		at, ok := known[name]
		if !ok || !slices.Equal(bits, read(other, first[at])) {
			at = int32(len(first))
			known[name], first = at, append(first, row)
		}
		d.of[row] = at
	}
	return first
}
