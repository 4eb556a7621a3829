// SPDX-License-Identifier: Apache-2.0

package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Adam is the optimiser of every learner (Kingma and Ba 2015, as torch implements it). The gradient is clipped by its
// global norm before it enters the moments.
type Adam struct {
	LR   float64 `json:"lr" range:"(0..)" help:"Adam's step size; the paper: 1e-4"`
	Eps  float64 `json:"adam_eps" range:"(0..)" help:"Adam's ε, added to the root of the second moment; the paper: 1e-6"`
	Clip float64 `json:"clip_grad" range:"(0..)" help:"largest global norm of a gradient; larger ones are scaled down; BenchMARL: 5"`

	// Elementwise clamps each element of the gradient to ±Clip instead, as Pyro's ClippedAdam does.
	Elementwise bool `json:"-"`
}

// Decay of the first and second moment: the defaults of torch and of BenchMARL.
const (
	adamBeta1 = 0.9
	adamBeta2 = 0.999
)

// Minimize takes one step down the gradient of loss in the trainable variables below sc and returns the gradient's
// global norm before clipping. Moments and step counter are variables below sc/adam. Each variable must appear under
// one optimiser only.
func (a Adam) Minimize(sc *model.Scope, loss *Node) (norm *Node) {
	g := loss.Graph()
	var vars []*model.Variable
	var nodes []*Node
	for _, v := range Variables(sc.Store(), sc.Scope()) {
		if v.Trainable && v.InUseByGraph(g) {
			vars = append(vars, v)
			nodes = append(nodes, v.NodeValue(g))
		}
	}
	grads := Gradient(loss, nodes...)
	square := ScalarZero(g, loss.DType())
	for _, d := range grads {
		square = Add(square, ReduceAllSum(Square(d)))
	}
	norm = Sqrt(square)
	at := sc.Scope() + "/adam/"
	scale := MinScalar(Div(Setting(norm, at+"clip_grad", a.Clip), AddScalar(norm, 1e-6)), 1.0) // torch's clip_grad_norm_

	moments := sc.At("adam")
	steps := Frozen(moments, loss, "steps", AllZero)
	t := AddScalar(steps.NodeValue(g), 1.0)
	steps.SetNodeValue(t)
	unbias1 := OneMinus(Pow(ConstAs(t, adamBeta1), t))
	unbias2 := OneMinus(Pow(ConstAs(t, adamBeta2), t))
	for i, v := range vars {
		d := Mul(grads[i], scale)
		if a.Elementwise {
			d = Within(grads[i], at+"clip_grad", -a.Clip, a.Clip)
		}
		name := model.EscapeScopeName(v.Path())
		m := Frozen(moments, loss, name+".m", AllZero, v.Shape().Dimensions...)
		s := Frozen(moments, loss, name+".v", AllZero, v.Shape().Dimensions...)
		mean := Add(MulScalar(m.NodeValue(g), adamBeta1), MulScalar(d, 1-adamBeta1))
		spread := Add(MulScalar(s.NodeValue(g), adamBeta2), MulScalar(Square(d), 1-adamBeta2))
		m.SetNodeValue(mean)
		s.SetNodeValue(spread)
		denominator := Plus(Sqrt(Div(spread, unbias2)), at+"eps", a.Eps)
		v.SetNodeValue(Sub(nodes[i], Times(Div(Div(mean, unbias1), denominator), at+"lr", a.LR)))
	}
	return norm
}
