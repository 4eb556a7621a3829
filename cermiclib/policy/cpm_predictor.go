// SPDX-License-Identifier: Apache-2.0

package policy

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// predictorScope holds the predictor's variables, those in training and the copy that agents act on. It lies beside
// the acting network and not below it, where the learner's optimiser would take it for its own.
const (
	predictorScope = "cpm"
	trainedScope   = "online"
	followerScope  = "following"
)

// Bounds of a Gaussian's policy vector: mean and log-scale.
const (
	meanBound                 = 3.0
	logScaleLow, logScaleHigh = -5.0, 1.0
)

// foresee is p̂ [B,N,J·P] of every agent's peers, through which no gradient passes, for obs [B,N,I].
func (p *cpm) foresee(sc *model.Scope, obs, last *Node) *Node {
	d := obs.Shape().Dimensions
	raw := p.predict(sc.Store().Scope("/"+predictorScope).At(followerScope), p.seen(sc, obs), last)
	return Reshape(StopGradient(p.bounded(raw)), d[0], d[1], p.peersLen())
}

// seen is what the predictor reads of obs [B,N,I]: [B,N,F]. It sees cells through the eyes of the acting network, at
// sc, which it does not train.
func (p *cpm) seen(sc *model.Scope, obs *Node) *Node {
	if p.spec.CellLen() == 0 {
		return obs
	}
	return StopGradient(nn.ReadObs(sc, p.spec, obs))
}

// predict maps obs [B,N,F] and the peers' last vectors [B,N,J·P] to the decoder's outputs [B,N,J,P]:
//
//	m, g = linear( ReLU linear ReLU linear(o_i) ),  ξ_j = linear ReLU linear(p_j),  out_j = linear ReLU linear(m + ξ_j⊙g)
func (p *cpm) predict(sc *model.Scope, obs, last *Node) *Node {
	two := func(name string, x *Node, out int) *Node {
		hidden := nn.ReLU(nn.LinearEach(sc.At("%s_in", name), x, p.Hidden))
		return nn.LinearEach(sc.At("%s_out", name), hidden, out)
	}
	seen := nn.ReLU(two("encoder", p.observers(obs), p.Hidden))
	mean := p.toPairs(nn.LinearEach(sc.At("mean"), seen, p.Latent), obs)
	gain := p.toPairs(nn.LinearEach(sc.At("gain"), seen, p.Latent), obs)
	noise := two("noise", p.pairs(last), p.Latent)
	z := Add(mean, Mul(noise, gain))
	if p.Share {
		z = Concatenate([]*Node{z, p.pairCodes(obs)}, -1)
	}
	return p.fromPairs(two("decoder", z, p.vector), obs)
}

// observers arranges obs [B,N,F] as [G,R,·]: with a network for each pair, an agent is a group; with one for all,
// there is one group and the agent's one-hot beside what it sees.
func (p *cpm) observers(obs *Node) *Node {
	if p.Share {
		return InsertAxes(rows(withIndex(obs)), 0)
	}
	return Transpose(obs, 0, 1)
}

// withIndex appends each agent's one-hot index: obs [...,N,O] to [...,N,O+N].
func withIndex(obs *Node) *Node {
	d := obs.Shape().Clone().Dimensions
	n := d[len(d)-2]
	d[len(d)-1] = n
	who := BroadcastToDims(ExpandLeftToRank(DiagonalWithValue(ScalarOne(obs.Graph(), obs.DType()), n), len(d)), d...)
	return Concatenate([]*Node{obs, who}, -1)
}

// pairs arranges the peers' vectors [B,N,J·P] likewise, a group for each pair.
func (p *cpm) pairs(last *Node) *Node {
	d := last.Shape().Dimensions
	x := Reshape(last, d[0], d[1], p.peers(), p.vector)
	if p.Share {
		return Concatenate([]*Node{Reshape(x, 1, -1, p.vector), p.pairCodes(last)}, -1)
	}
	return Reshape(TransposeAllDims(x, 1, 2, 0, 3), d[1]*p.peers(), d[0], p.vector)
}

// toPairs repeats what observers [G,R,W] have made of obs for each of their peers.
func (p *cpm) toPairs(x, obs *Node) *Node {
	b, n, j, w := obs.Shape().Dimensions[0], p.spec.Agents, p.peers(), x.Shape().Dimensions[2]
	if p.Share {
		x = BroadcastToDims(Reshape(x, b, n, 1, w), b, n, j, w)
		return Reshape(x, 1, b*n*j, w)
	}
	x = BroadcastToDims(Reshape(x, n, 1, b, w), n, j, b, w)
	return Reshape(x, n*j, b, w)
}

// fromPairs arranges what pairs [G,R,P] have become as [B,N,J,P].
func (p *cpm) fromPairs(x, obs *Node) *Node {
	b, n, j := obs.Shape().Dimensions[0], p.spec.Agents, p.peers()
	if p.Share {
		return Reshape(x, b, n, j, p.vector)
	}
	return TransposeAllDims(Reshape(x, n, j, b, p.vector), 2, 0, 1, 3)
}

// pairCodes tells who predicts whom, two one-hots for each pair of every frame of like [B,...]: [1,B·N·J,2N].
func (p *cpm) pairCodes(like *Node) *Node {
	n, b := p.spec.Agents, like.Shape().Dimensions[0]
	codes := make([][]float32, 0, n*p.peers())
	for i := range n {
		for j := range n {
			if i != j {
				code := make([]float32, 2*n)
				code[i], code[n+j] = 1, 1
				codes = append(codes, code)
			}
		}
	}
	all := BroadcastToDims(InsertAxes(ConvertDType(Const(like.Graph(), codes), like.DType()), 0), b, len(codes), 2*n)
	return Reshape(all, 1, b*len(codes), 2*n)
}

// bounded turns outputs of a decoder into vectors: probabilities, or mean and log-scale within their bounds.
func (p *cpm) bounded(raw *Node) *Node {
	if p.spec.Act.Choices > 0 {
		return Softmax(raw, -1)
	}
	mean, logScale := p.gaussian(raw)
	return Concatenate([]*Node{mean, logScale}, -1)
}

// gaussian is mean and log-scale of a decoder's outputs [...,2D], smooth up to their bounds.
func (p *cpm) gaussian(raw *Node) (mean, logScale *Node) {
	half := Split(raw, -1, 2)
	squash := func(x *Node, low, high float64) *Node {
		reach := (high - low) / 2
		return AddScalar(MulScalar(Tanh(DivScalar(x, reach)), reach), low+reach)
	}
	return squash(half[0], -meanBound, meanBound), squash(half[1], logScaleLow, logScaleHigh)
}

// vectorOf is the policy vector of outputs y [...,out] of the acting network, through which no gradient passes.
func (p *cpm) vectorOf(y *Node) *Node {
	y = StopGradient(y)
	if p.spec.Act.Choices > 0 {
		return Softmax(y, -1)
	}
	mean, scale := nn.Gaussian(y)
	return Concatenate([]*Node{ClipScalar(mean, -meanBound, meanBound), ClipScalar(Log(scale), logScaleLow, logScaleHigh)}, -1)
}

// ofPeers gives each agent its peers' rows of x [B,N,W], in order, one after the other: [B,N,J·W].
func (p *cpm) ofPeers(x *Node) *Node {
	n := p.spec.Agents
	agents := make([]*Node, n)
	for i := range agents {
		agents[i] = Slice(x, AxisRange(), AxisElem(i))
	}
	each := make([]*Node, n)
	for i := range each {
		var others []*Node
		for j := range n {
			if j != i {
				others = append(others, agents[j])
			}
		}
		each[i] = Concatenate(others, -1)
	}
	return Concatenate(each, 1)
}
