// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"

	"github.com/gomlx/compute/gobackend"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
)

// LeakyReLU is max(x, 0.2·x), the slope of the Dynamic Bottleneck networks, with gradient 1 at 0. The pure Go backend
// gets the same bits from a product like ReLU's, several times quicker; XLA would contract that product with sums.
func LeakyReLU(x *Node) *Node {
	if x.Graph().Backend().String() != gobackend.BackendName {
		return Max(x, MulScalar(x, 0.2))
	}
	positive := ConvertDType(GreaterOrEqual(x, ZerosLike(x)), x.DType())
	return Mul(x, StopGradient(AddScalar(MulScalar(positive, 0.8), 0.2))) // 0.8 + 0.2 rounds to 1
}

// ReLU is max(x, 0) with gradient 0 at 0, as a product with a mask. On the pure Go backend this is several times
// quicker than Max; on XLA it is equal.
func ReLU(x *Node) *Node {
	return Mul(x, StopGradient(ConvertDType(GreaterThan(x, ZerosLike(x)), x.DType())))
}

// ELU is x where x > 0, else exp(x) − 1.
func ELU(x *Node) *Node {
	return Where(GreaterThan(x, ZerosLike(x)), x, MinusOne(Exp(MinScalar(x, 0))))
}

// Linear maps x [B, in] to [B, out] with torch's default initialisation, U(±1/√in) for weights and bias.
func Linear(sc *model.Scope, x *Node, out int) *Node {
	x.AssertRank(2)
	in := x.Shape().Dimensions[1]
	w := Weight(sc, x, "weights", FanIn(in), in, out)
	b := Weight(sc, x, "bias", FanIn(in), out)
	return Add(Dot(x, w).Product(), ExpandLeftToRank(b, 2))
}

// Normalize is layer normalisation over the last axis without gain and bias, ε = 1e-5.
func Normalize(x *Node) *Node { return NormalizeAxis(x, -1) }

// NormalizeAxis is Normalize over another axis.
func NormalizeAxis(x *Node, axis int) *Node {
	centred := Sub(x, ReduceAndKeep(x, ReduceMean, axis))
	variance := ReduceAndKeep(Square(centred), ReduceMean, axis)
	return Div(centred, Sqrt(AddScalar(variance, 1e-5)))
}

// Average is the mean of v over the entries of weight 1, 0 without any.
func Average(v, weight *Node) *Node {
	return Div(ReduceAllSum(Mul(v, weight)), MaxScalar(ReduceAllSum(weight), 1))
}

// Allowed returns logits with entries too low to be chosen where mask is 0; a nil mask allows all.
func Allowed(logits, mask *Node) *Node {
	if mask == nil {
		return logits
	}
	return Where(GreaterThan(mask, ZerosLike(mask)), logits, FillScalar(logits.Graph(), logits.Shape(), -1e9))
}

// LinearEach is Linear with weights of its own for each group: x [G,B,in] to [G,B,out].
func LinearEach(sc *model.Scope, x *Node, out int) *Node {
	x.AssertRank(3)
	groups, in := x.Shape().Dimensions[0], x.Shape().Dimensions[2]
	w := Weight(sc, x, "weights", FanIn(in), groups, in, out)
	b := Weight(sc, x, "bias", FanIn(in), groups, 1, out)
	return Add(Einsum("gbi,gio->gbo", x, w), b)
}

// MLP maps x [B, in] to [B, out] through hidden layers with act after each; the output is linear. Weights are [out, in]
// and start as torch's do.
//
// Inside, activations are feature-major, [features, B]. The weight gradient then contracts over the contiguous axis of
// both factors. XLA's CPU matrix product does that 1.5 times quicker than over the outermost one. Only the narrow input
// and output are transposed.
func MLP(sc *model.Scope, x *Node, hidden []int, act func(x *Node) *Node, out int) *Node {
	x.AssertRank(2)
	x = Transpose(x, 0, 1)
	for i, width := range hidden {
		x = act(Affine(sc.At("layer_%d", i), x, width))
	}
	return Transpose(Affine(sc.At("out"), x, out), 0, 1)
}

// Affine maps feature-major x [in, B] to W·x + b [out, B].
func Affine(sc *model.Scope, x *Node, out int) *Node {
	in := x.Shape().Dimensions[0]
	w := Weight(sc, x, "weights", FanIn(in), out, in)
	b := Weight(sc, x, "bias", FanIn(in), out, 1)
	return Add(Dot(w, x).Product(), b)
}

// encoderHidden is the width of the encoder's two hidden layers; the paper's table of memory sizes: 128.
const encoderHidden = 128

// Encode maps observations [B,I] to embeddings [B,width]: vectors through two hidden layers, cells through ReadObs and
// one linear layer. ReadObs ends with a hidden dense layer of its own. Each embedding has mean 0 and variance 1 over
// its components, so that a collapse to a constant cannot hide in a small scale.
//
// The memories and the module's own encoder θ have this shape and weights of their own.
func Encode(sc *model.Scope, s *envs.Spec, obs *Node, width int) *Node {
	hidden := []int{encoderHidden, encoderHidden}
	if s.CellLen() > 0 {
		hidden = nil
	}
	return Normalize(MLP(sc, ReadObs(sc, s, obs), hidden, LeakyReLU, width))
}

// GRU is one layer of gated recurrent units (Cho et al. 2014) with two biases a gate, as in torch.
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
	gates := Sigmoid(Add(Slice(drive, AxisRange(), AxisRange(0, 2*c.width)),
		Slice(echo, AxisRange(), AxisRange(0, 2*c.width))))
	reset, update := part(gates, 0), part(gates, 1)
	candidate := Tanh(Add(part(drive, 2), Mul(reset, part(echo, 2))))
	return Add(candidate, Mul(update, Sub(h, candidate)))
}

// Unroll runs the layer over x [L,B,I] from h [B,F] and returns the states after every step [L,B,F]. keep [L,B,1] is 0
// where an episode starts and resets the state before that step. The inputs' share of all steps is one product. Only
// the recurrent one is unrolled, since GoMLX has no loop with a gradient.
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

// Scale of the squashed Gaussian: torchrl's biased_softplus_1.0, which is 1 where the network's output is 0, and its
// floor.
const (
	scaleFloor = 0.01
	scaleMin   = 1e-4
)

var scaleBias = math.Log(math.Exp(1-scaleFloor) - 1) // 0.5255

// ActionOutputs is the number of network outputs for the action distribution of one agent: K logits, or D means and D
// scales.
func ActionOutputs(a *envs.ActSpec) int {
	if a.Choices > 0 {
		return a.Choices
	}
	return 2 * a.Dim
}

// Gaussian splits a network's output y [..., 2D] into mean and scale [..., D] of the action before squashing.
func Gaussian(y *Node) (mean, scale *Node) {
	half := Split(y, -1, 2)
	return half[0], MaxScalar(AddScalar(Softplus(AddScalar(half[1], scaleBias)), scaleFloor), scaleMin)
}

// LogProbGaussian is the log-density [...] of a squashed action in physical units, summed over D. u [..., D] is its raw
// value.
//
//	log π(a) = Σ_d [ log N(u_d; μ_d, σ_d) − log h_d − 2(log 2 − u_d − softplus(−2u_d)) ]
func LogProbGaussian(u, mean, scale *Node, a *envs.ActSpec) *Node {
	logHalf := 0.0
	for d := range a.Dim {
		logHalf += math.Log(float64(a.High[d]-a.Low[d])/2) + 0.5*math.Log(2*math.Pi)
	}
	z := Div(Sub(u, mean), scale)
	slope := MulScalar(Sub(AddScalar(Neg(u), math.Ln2), Softplus(MulScalar(u, -2))), 2)
	each := Sub(Sub(MulScalar(Square(z), -0.5), Log(scale)), slope)
	return AddScalar(ReduceSum(each, -1), -logHalf)
}

// LogProbCategorical is the masked log-softmax of logits [..., K], whole and at choice [...]; mask [..., K] holds 1
// for allowed choices.
func LogProbCategorical(logits, mask, choice *Node) (logp, all *Node) {
	all = LogSoftmax(Allowed(logits, mask), -1)
	k := logits.Shape().Dimensions[logits.Rank()-1]
	return ReduceSum(Mul(all, OneHot(choice, k, logits.DType())), -1), all
}
