// SPDX-License-Identifier: Apache-2.0

// Package nntest computes layers and optimisers in float64, in plain loops. Tests compare graphs with it.
package nntest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"cermic/envs/rng"
)

// Read copies variables; their names are the paths without prefix.
func Read(variables []*model.Variable, prefix string) map[string][]float64 {
	params := map[string][]float64{}
	for _, v := range variables {
		flat, err := tensors.CopyFlatData[float32](v.MustValue())
		if err != nil {
			panic(err)
		}
		params[strings.TrimPrefix(v.Path(), prefix)] = Wide(flat)
	}
	return params
}

// NumParameters counts the trainable values of variables.
func NumParameters(variables []*model.Variable) (n int) {
	for _, v := range variables {
		if v.Trainable {
			n += v.Shape().Size()
		}
	}
	return n
}

// Wide converts v to float64.
func Wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// Linear returns W·x + b of the layer name. W is stored [out,in] if rows, as by nn.MLP, else [in,out], as by nn.Linear.
func Linear(params map[string][]float64, name string, x []float64, rows bool) []float64 {
	w, y := params[name+"/weights"], slices.Clone(params[name+"/bias"])
	row, column := 1, len(y)
	if rows {
		row, column = len(x), 1
	}
	for o := range y {
		for i, v := range x {
			y[o] += w[o*row+i*column] * v
		}
	}
	return y
}

// GroupLinear is Linear of group g of several, whose weights are stored [groups,in,out].
func GroupLinear(params map[string][]float64, name string, g, groups int, x []float64) []float64 {
	own := map[string][]float64{}
	for _, part := range []string{name + "/weights", name + "/bias"} {
		n := len(params[part]) / groups
		own[part] = params[part][g*n : (g+1)*n]
	}
	return Linear(own, name, x, false)
}

// Apply replaces each number of x by f of it and returns x.
func Apply(x []float64, f func(float64) float64) []float64 {
	for i, v := range x {
		x[i] = f(v)
	}
	return x
}

// ReLU is max(x, 0).
func ReLU(x float64) float64 { return max(x, 0) }

// Leaky is the leaky ReLU with slope 0.2.
func Leaky(x float64) float64 { return max(x, 0.2*x) }

// Sigmoid is the logistic function.
func Sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Softmax replaces scores by their softmax and returns them. A score of -Inf gets 0.
func Softmax(scores []float64) []float64 {
	total := floats.LogSumExp(scores)
	return Apply(scores, func(v float64) float64 { return math.Exp(v - total) })
}

// KL returns the divergence of N(mean, spread²) from N(otherMean, otherSpread²) in each component.
func KL(mean, spread, otherMean, otherSpread []float64) (each []float64) {
	for i, s := range spread {
		d, o := mean[i]-otherMean[i], otherSpread[i]
		each = append(each, math.Log(o/s)+(s*s+d*d)/(2*o*o)-0.5)
	}
	return each
}

// LogTanhNormal is the log-density of an action low + (high-low)·(1+tanh u)/2, where u is N(mean, scale²).
func LogTanhNormal(u, mean, scale float64, low, high float32) float64 {
	z, tanh, half := (u-mean)/scale, math.Tanh(u), float64(high-low)/2
	return -z*z/2 - math.Log(scale) - math.Log(2*math.Pi)/2 - math.Log(half*(1-tanh*tanh))
}

// Normalize shifts and scales x to mean 0 and variance 1, as nn.Normalize does, and returns it.
func Normalize(x []float64) []float64 {
	mean, variance := stat.PopMeanVariance(x, nil)
	return Apply(x, func(v float64) float64 { return (v - mean) / math.Sqrt(variance+1e-5) })
}

// Adam is an optimiser whose gradients, by central differences, are clipped by their global norm.
type Adam struct {
	LR, Eps, Clip float64

	m, v  map[string][]float64
	steps float64
}

// Step moves the named parameters, which loss reads from params, and returns the norm of the gradient.
func (a *Adam) Step(params map[string][]float64, names []string, loss func() float64) (norm float64) {
	if a.m == nil {
		a.m, a.v = map[string][]float64{}, map[string][]float64{}
	}
	grads := map[string][]float64{}
	for _, name := range names {
		old := params[name]
		grads[name] = fd.Gradient(nil, func(x []float64) float64 {
			params[name] = x
			return loss()
		}, slices.Clone(old), &fd.Settings{Formula: fd.Central})
		params[name] = old
		for _, g := range grads[name] {
			norm += g * g
		}
	}
	norm = math.Sqrt(norm)
	scale := min(1, a.Clip/(norm+1e-6))
	a.steps++
	for _, name := range names {
		if a.m[name] == nil {
			a.m[name], a.v[name] = make([]float64, len(grads[name])), make([]float64, len(grads[name]))
		}
		for i, g := range grads[name] {
			g *= scale
			a.m[name][i] = 0.9*a.m[name][i] + 0.1*g
			a.v[name][i] = 0.999*a.v[name][i] + 0.001*g*g
			mean, spread := a.m[name][i]/(1-math.Pow(0.9, a.steps)), a.v[name][i]/(1-math.Pow(0.999, a.steps))
			params[name][i] -= a.LR * mean / (math.Sqrt(spread) + a.Eps)
		}
	}
	return norm
}

// FirstSteps visits about sample weights of each variable below scope. visit gets their gradients g by differences of
// loss and their values after one step of Adam.
func FirstSteps(params map[string][]float64, scope string, sample int, lr, eps float64, loss func() float64,
	visit func(name string, i int, want, g float64)) {
	for name, p := range params {
		if !strings.HasPrefix(name, scope+"/") || strings.Contains(name, "/adam/") {
			continue
		}
		for i := 0; i < len(p); i += max(1, len(p)/sample) {
			const h = 1e-5
			old := p[i]
			p[i] = old + h
			up := loss()
			p[i] = old - h
			g := (up - loss()) / (2 * h)
			p[i] = old
			visit(name, i, old-lr*g/(math.Abs(g)+eps), g)
		}
	}
}

// CheckSlope compares the gradient of a value in a variable with its central difference of step h, along a random
// direction. It returns the gradient's product with that direction.
func CheckSlope(t testing.TB, v *model.Variable, gradient []float64, r *rng.Rand, h, tolerance float64,
	value func() float64) (want float64) {
	t.Helper()
	direction := make([]float64, len(gradient))
	for k := range direction {
		direction[k] = float64(r.Norm())
	}
	at := func(step float64) float64 {
		tensors.MustMutableFlatData(v.MustValue(), func(flat []float64) { floats.AddScaled(flat, step, direction) })
		return value()
	}
	got := (at(h) - at(-2*h)) / (2 * h)
	at(h)
	want = floats.Dot(direction, gradient)
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s: the directional derivative is %.9f, its gradient %.9f", v.Path(), got, want)
	}
	return want
}
