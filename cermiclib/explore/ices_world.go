// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// worldModel is one of the two models of ICES: a first prediction of the change of state, and a variational code of the
// prediction's residual. e are the embeddings of the known actions (zero for a hidden one).
//
//	Δŝ = tanh MLP(s, e)                              by squared error
//	p(z|s,e,Δŝ), q(z|s,e,Δs)                         Gaussians: prior, and recognition, which has seen what happened
//	E_q[log p(Δs|z)] − KL(q ‖ p)                     is maximised, with one sample; both models share the decoder p(Δs|z)
type worldModel struct {
	ICES
	base, code *model.Scope // of the prediction and of the codes: an optimiser each
	name       string       // "global" or "local"
}

// worldIn holds the frames that a world model reads.
type worldIn struct {
	state *Node // [B,S]
	taken *Node // [B,N,K] one-hot actions
	known *Node // [B,N] 0 for a hidden action
}

// gauss is a Gaussian with independent components, [B,Z] each.
type gauss struct{ mean, spread *Node }

// spreads stay above this, as the authors', and below where a float32 density makes sense.
const codeFloor, codeCeiling = 0.01, 10

// gaussian maps x to a Gaussian over out numbers.
func (c ICES) gaussian(sc *model.Scope, x *Node, out int) gauss {
	parts := Split(nn.MLP(sc, x, c.Hidden, nn.ReLU, 2*out), -1, 2)
	return gauss{parts[0], Exp(ClipScalar(parts[1], math.Log(codeFloor), math.Log(codeCeiling)))}
}

// given concatenates the state and the embedded actions, [B, S+N·E]. One embedding table serves all agents; it starts
// as N(0,1).
func (w worldModel) given(sc *model.Scope, in worldIn) *Node {
	d := in.taken.Shape().Dimensions
	table := nn.Weight(sc.At("%s", w.name), in.state, "actions", nn.Normal, d[2], w.Embed)
	known := Mul(in.taken, InsertAxes(in.known, -1))
	return nn.Beside(in.state, Reshape(Einsum("bnk,ke->bne", known, table), d[0], d[1]*w.Embed))
}

// predict is Δŝ [B,S].
func (w worldModel) predict(in worldIn) *Node {
	sc, out := w.base.At("%s", w.name), in.state.Shape().Dimensions[1]
	return Tanh(nn.MLP(sc, w.given(w.base, in), w.Hidden, nn.ReLU, out))
}

// prior is p(z|s,e,Δŝ); predicted is Δŝ, which it does not train.
func (w worldModel) prior(in worldIn, predicted *Node) gauss {
	x := nn.Beside(w.given(w.code, in), StopGradient(predicted))
	return w.gaussian(w.code.At("%s", w.name).At("prior"), x, w.Latent)
}

// loss returns the squared error of the prediction and the negative bound of the code, means over B; noise is [B,Z].
func (w worldModel) loss(in worldIn, delta, noise *Node) (prediction, bound *Node) {
	predicted := w.predict(in)
	prior := w.prior(in, predicted)
	seen := w.gaussian(w.code.At("%s", w.name).At("recognition"), nn.Beside(w.given(w.code, in), delta), w.Latent)
	out := w.gaussian(w.code.At("decoder"), Add(seen.mean, Mul(seen.spread, noise)), delta.Shape().Dimensions[1])
	out.mean = Tanh(out.mean)
	z := Div(Sub(delta, out.mean), out.spread)
	likelihood := ReduceSum(Neg(AddScalar(Add(MulScalar(Square(z), 0.5), Log(out.spread)), 0.5*math.Log(2*math.Pi))), -1)
	divergence := ReduceSum(componentKL(seen, prior), -1)
	return ReduceAllMean(Square(Sub(predicted, delta))), ReduceAllMean(Sub(divergence, likelihood))
}

// componentKL is KL(p ‖ q) of each component.
//
//	KL = log(σ_q/σ_p) + (σ_p² + (μ_p − μ_q)²)/(2σ_q²) − ½
func componentKL(p, q gauss) *Node {
	ratio := Sub(Log(q.spread), Log(p.spread))
	square := Div(Add(Square(p.spread), Square(Sub(p.mean, q.mean))), MulScalar(Square(q.spread), 2))
	return AddScalar(Add(ratio, square), -0.5)
}

// contributions are r_i [B,N], the information of each agent's action about the change of state, given all others'
// actions. It trains nothing.
func (c ICES) contributions(global, local worldModel, in worldIn) *Node {
	d := in.taken.Shape().Dimensions
	b, n := d[0], d[1]
	all := global.prior(in, global.predict(in))
	each := func(x *Node) *Node { // row b·N+i is frame b, seen without agent i
		shape := append([]int{b, n}, x.Shape().Dimensions[1:]...)
		return Reshape(BroadcastToDims(InsertAxes(x, 1), shape...), append([]int{b * n}, x.Shape().Dimensions[1:]...)...)
	}
	others := OneMinus(DiagonalWithValue(ScalarOne(in.state.Graph(), in.state.DType()), n))
	without := worldIn{state: each(in.state), taken: each(in.taken),
		known: Reshape(BroadcastToDims(InsertAxes(others, 0), b, n, n), b*n, n)}
	kl := componentKL(gauss{each(all.mean), each(all.spread)}, local.prior(without, local.predict(without)))
	return StopGradient(Reshape(OneMinus(Exp(Neg(ReduceMean(kl, -1)))), b, n))
}
