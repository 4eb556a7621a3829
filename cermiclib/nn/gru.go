// SPDX-License-Identifier: Apache-2.0

package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// GRU is one layer of gated recurrent units (Cho et al. 2014) with two biases a gate, as torch has it:
//
//	r = σ(W_r·x + b_r + U_r·h + c_r), z likewise, n = tanh(W_n·x + b_n + r⊙(U_n·h + c_n)), h' = (1-z)⊙n + z⊙h
type GRU struct {
	input, inputBias, recurrent, recurrentBias *Node // [I,3F], [3F], [F,3F], [3F]; gates r, z, n side by side
	width                                      int
}

// NewGRU returns a layer of the given width F for inputs like x [B,I].
func NewGRU(sc *model.Scope, x *Node, width int) GRU {
	init := FanIn(width) // torch draws everything from U(±1/√F)
	return GRU{
		input:         Weight(sc, x, "input", init, x.Shape().Dimensions[1], 3*width),
		inputBias:     Weight(sc, x, "input_bias", init, 3*width),
		recurrent:     Weight(sc, x, "recurrent", init, width, 3*width),
		recurrentBias: Weight(sc, x, "recurrent_bias", init, 3*width),
		width:         width,
	}
}

// Drive is the input's share of the gates: x [B,I] to [B,3F].
func (c GRU) Drive(x *Node) *Node {
	return Add(Dot(x, c.input).Product(), ExpandLeftToRank(c.inputBias, 2))
}

// Step maps the drive [B,3F] and h [B,F] to the next h [B,F].
func (c GRU) Step(drive, h *Node) *Node {
	echo := Add(Dot(h, c.recurrent).Product(), ExpandLeftToRank(c.recurrentBias, 2))
	part := func(x *Node, i int) *Node { return Slice(x, AxisRange(), AxisRange(i*c.width, (i+1)*c.width)) }
	gates := Sigmoid(Add(Slice(drive, AxisRange(), AxisRange(0, 2*c.width)), Slice(echo, AxisRange(), AxisRange(0, 2*c.width))))
	reset, update := part(gates, 0), part(gates, 1)
	candidate := Tanh(Add(part(drive, 2), Mul(reset, part(echo, 2))))
	return Add(candidate, Mul(update, Sub(h, candidate)))
}

// Unroll runs the layer over x [L,B,I] from h [B,F] and returns the states after every step [L,B,F]. keep [L,B,1] is
// 0 where an episode starts: the state before that step is forgotten. The inputs' share of all steps is one product;
// only the recurrent one is unrolled, since GoMLX has no loop with a gradient.
func (c GRU) Unroll(x, keep, h *Node) *Node {
	d := x.Shape().Dimensions
	drive := Reshape(c.Drive(Reshape(x, d[0]*d[1], d[2])), d[0], d[1], 3*c.width)
	states := make([]*Node, d[0])
	for t := range states {
		at := func(x *Node) *Node { return Squeeze(Slice(x, AxisElem(t)), 0) }
		h = c.Step(at(drive), Mul(h, at(keep)))
		states[t] = h
	}
	return Stack(states, 0)
}
