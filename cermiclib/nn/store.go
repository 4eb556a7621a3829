// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
	"cermic/envs/rng"
)

// Build holds everything that a component may depend on when it makes its graphs. No component changes it for another.
type Build struct {
	Spec    *envs.Spec
	Backend Backend
	Store   *model.Store // made by NewStore
	Seed    uint64       // of the run; streams are named by (Seed, purpose, index)
	Files   string       // folder of the results store, for weights that an experiment names; empty: none
	Context int          // F, length of the context that an explorer gives each actor beside its observation; 0: none

	programs []*Program
	parts    []*Build // made by For
}

// For returns b for networks that read observations of spec. They share its store, and b.Close releases their programs.
func (b *Build) For(spec *envs.Spec) *Build {
	part := *b
	part.Spec, part.programs, part.parts = spec, nil, nil
	b.parts = append(b.parts, &part)
	return &part
}

// Close releases the compiled graphs and the variables, which lie on the device. The garbage collector sees only the
// small part of them in Go's memory. Nothing that was built can be used any more.
func (b *Build) Close() {
	for _, part := range append(b.parts, b) {
		for _, p := range part.programs {
			p.Close()
		}
		part.programs = nil
	}
	b.Store.Finalize()
}

// seedParam is where NewStore leaves the seed that initial weights are drawn from.
const seedParam = "/weights_seed"

// NewStore returns an empty variable store whose initial weights are drawn on the host from streams named by seed and
// the variable's path. They depend neither on the backend nor on the order in which graphs are built.
func NewStore(seed uint64) *model.Store {
	s := model.NewStore()
	s.SetParam(seedParam, seed)
	return s
}

// Init fills dst, a tensor of the given dimensions in row-major order.
type Init func(r *rng.Rand, dst []float32, dims []int)

// AllZero leaves every value 0.
func AllZero(*rng.Rand, []float32, []int) {}

// Constant sets every value.
func Constant(value float32) Init {
	return func(_ *rng.Rand, dst []float32, _ []int) {
		for i := range dst {
			dst[i] = value
		}
	}
}

// Normal draws N(0,1).
func Normal(r *rng.Rand, dst []float32, _ []int) {
	for i := range dst {
		dst[i] = r.Norm()
	}
}

// FanIn draws U(±1/√n), which is torch's default for the weights and the bias of a linear layer with n inputs.
func FanIn(n int) Init {
	return func(r *rng.Rand, dst []float32, _ []int) {
		bound := float32(1 / math.Sqrt(float64(n)))
		for i := range dst {
			dst[i] = r.Uniform(-bound, bound)
		}
	}
}

// Orthogonal draws weights whose rows or columns, whichever are fewer, are orthogonal to each other and of length gain
// (Saxe et al. 2014; torch's orthogonal_). The last two dimensions belong to one matrix. Dimensions before them count
// matrices, which are drawn independently of each other.
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

// orthonormal draws count vectors [count][length], count ≤ length, uniformly among all orthonormal ones. It takes
// normal vectors, each without its projections on those before it (Gram and Schmidt).
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

// Weight returns the trainable variable sc/name in the dtype of like, made with init on first use.
func Weight(sc *model.Scope, like *graph.Node, name string, init Init, dims ...int) *graph.Node {
	return variable(sc, like.DType(), name, init, dims).NodeValue(like)
}

// Frozen is Weight for a variable that no optimiser touches: a momentum copy, a running statistic.
func Frozen(sc *model.Scope, like *graph.Node, name string, init Init, dims ...int) *model.Variable {
	return variable(sc, like.DType(), name, init, dims).SetTrainable(false)
}

func variable(sc *model.Scope, dtype dtypes.DType, name string, init Init, dims []int) *model.Variable {
	path := model.JoinPath(sc.Scope(), name)
	if v := sc.Store().GetVariable(path); v != nil {
		if !slices.Equal(v.Shape().Dimensions, dims) || v.DType() != dtype {
			panic(fmt.Errorf("nn: variable %s is %s, want %v %s", path, v.Shape(), dims, dtype))
		}
		return v
	}
	seed, ok := sc.Store().GetParam(seedParam)
	if !ok {
		panic(fmt.Errorf("nn: variable %s in a store that NewStore did not make", path))
	}
	flat := make([]float32, shapes.Make(dtype, dims...).Size())
	init(rng.New(seed.(uint64), "weights "+path), flat, dims)
	var t *tensors.Tensor
	if dtype == dtypes.Float64 {
		wide := make([]float64, len(flat))
		for i, x := range flat {
			wide[i] = float64(x)
		}
		t = tensors.FromFlatDataAndDimensions(wide, dims...)
	} else {
		t = tensors.FromFlatDataAndDimensions(flat, dims...)
	}
	return sc.Store().VariableWithValue(path, t)
}

// Variables lists the variables below a scope path in alphabetical order ("" or "/": all).
func Variables(s *model.Store, scope string) []*model.Variable {
	var list []*model.Variable
	prefix := strings.TrimSuffix(scope, "/") + "/"
	for v := range s.IterVariables() {
		if strings.HasPrefix(v.Path(), prefix) && !strings.Contains(v.Path(), "#") {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *model.Variable) int { return strings.Compare(a.Path(), b.Path()) })
	return list
}
