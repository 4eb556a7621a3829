// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/floats"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/nntest"
)

// reference computes features of the graph memory for one agent step at a time from the weights of a store, in float64
// and with loops over nodes. It follows the specification's formulas, not the graph code. One-hot vectors are written
// out, every node is computed in every layer, and absent nodes are left out instead of masked.
type reference struct {
	DynamicGraph
	agents int
	params map[string][]float64 // by path below the memory
}

func newReference(c DynamicGraph, store *model.Store, agents int) reference {
	return reference{c, agents, nntest.Read(nn.Variables(store, "/memory"), "/memory/")}
}

// sighting is one moment as the reference sees it.
type sighting struct {
	obs  []float64
	seen []bool
}

// times is the matrix path [out,in] times x.
func (r reference) times(path string, x []float64) []float64 {
	w := r.params[path]
	y := make([]float64, len(w)/len(x))
	for i := range y {
		y[i] = floats.Dot(w[i*len(x):(i+1)*len(x)], x)
	}
	return y
}

func (r reference) affine(path string, x []float64) []float64 {
	return nntest.Linear(r.params, path, x, true)
}

// plus panics where a part is missing.
func plus(a, b []float64) []float64 { return floats.AddTo(make([]float64, len(a)), a, b) }

func (r reference) encode(obs []float64) []float64 {
	x := nntest.Apply(r.affine("encoder/layer_0", obs), nntest.Leaky)
	return nntest.Normalize(r.affine("encoder/out", nntest.Apply(r.affine("encoder/layer_1", x), nntest.Leaky)))
}

// pair is the MLP [e, onehot(a), onehot(b)] of the node or of the edge encoder.
func (r reference) pair(part, first, second string, e []float64, a, b int) []float64 {
	hot := func(i int) []float64 { x := make([]float64, r.agents); x[i] = 1; return x }
	x := plus(r.times(part+"/embedding", e), plus(r.times(part+"/"+first, hot(a)), r.times(part+"/"+second, hot(b))))
	x = nntest.Apply(plus(x, r.params[part+"/bias"]), nntest.Leaky)
	return r.affine(part+"/out", nntest.Apply(r.affine(part+"/layer_1", x), nntest.Leaky))
}

// node is slot j of the graph of the first moment, which the others precede, latest first.
func (r reference) node(moments []sighting, i, j int) []float64 {
	d := r.Node / r.Heads
	ages := r.params["attention/age"] // [Z,Q]
	var keys, values [][]float64
	now := r.pair("node", "observer", "subject", r.encode(moments[0].obs), i, j)
	for age, m := range moments {
		if age > 0 && !m.seen[j] {
			continue
		}
		z := now
		if age > 0 {
			z = r.pair("node", "observer", "subject", r.encode(m.obs), i, j)
		}
		key := r.times("attention/key", z)
		if age > 0 {
			for k := range key {
				key[k] += ages[k*r.Queue+age-1]
			}
		}
		keys, values = append(keys, key), append(values, r.times("attention/value", z))
	}
	query, recalled := r.times("attention/query", now), make([]float64, r.Node)
	for head := range r.Heads {
		scores := make([]float64, len(keys))
		for n, key := range keys {
			scores[n] = floats.Dot(query[head*d:(head+1)*d], key[head*d:(head+1)*d]) / math.Sqrt(float64(d))
		}
		for n, w := range nntest.Softmax(scores) {
			floats.AddScaled(recalled[head*d:(head+1)*d], w, values[n][head*d:(head+1)*d])
		}
	}
	return nntest.Normalize(plus(now, r.times("attention/output", recalled)))
}

// feature is f of the graph made at moments[0]; up to Q earlier moments follow, latest first.
func (r reference) feature(moments []sighting, i int) []float64 {
	moments = moments[:min(len(moments), r.Queue+1)]
	nodes := map[int][]float64{}
	for j := range r.agents {
		present := i == j
		for _, m := range moments {
			present = present || m.seen[j]
		}
		if present {
			nodes[j] = r.node(moments, i, j)
		}
	}
	e := r.encode(moments[0].obs)
	for l := range r.Layers {
		next, out := map[int][]float64{}, r.Hidden
		if l == r.Layers-1 {
			out = r.Width
		}
		for j := range nodes {
			next[j] = r.message(fmt.Sprintf("graph_%d", l), nodes, e, j, out, l < r.Layers-1)
		}
		nodes = next
	}
	return nodes[i]
}

// message is one destination of a graph layer.
func (r reference) message(part string, nodes map[int][]float64, e []float64, j, out int, activate bool) []float64 {
	d, y := out/r.Heads, make([]float64, out)
	a := r.params[part+"/score"]
	to := r.affine(part+"/destination", nodes[j])
	var sources, sums [][]float64
	for k := range r.agents {
		if nodes[k] != nil {
			from := r.affine(part+"/source", nodes[k])
			sources = append(sources, from)
			sums = append(sums, plus(plus(to, from), r.times(part+"/edge", r.pair("edge", "to", "from", e, j, k))))
		}
	}
	for head := range r.Heads {
		scores := make([]float64, len(sums))
		for n, x := range sums {
			for c := head * d; c < (head+1)*d; c++ {
				scores[n] += a[c] * nntest.Leaky(x[c])
			}
		}
		for n, w := range nntest.Softmax(scores) {
			floats.AddScaled(y[head*d:(head+1)*d], w, sources[n][head*d:(head+1)*d])
		}
	}
	if activate {
		y = nntest.Apply(y, func(v float64) float64 { return max(v, 0) + math.Exp(min(v, 0)) - 1 })
	}
	return nntest.Normalize(plus(y, r.affine(part+"/residual", nodes[j])))
}
