// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// Everything in this file is feature-major: features first, agent steps last. Matrix products then contract over the
// contiguous axis, and sums over features run along contiguous agent steps. Moments and graphs are nodes of their own rather
// than an axis, because the gradient of cutting such an axis into windows costs more than all that is computed in them.

// pairHidden is the width of the hidden layers of the node and of the edge encoder; the paper's table of memory sizes: 128.
const pairHidden = 128

// impression is what the memory makes of one moment, whatever graphs it appears in.
type impression struct {
	embedding  *Node // [D,B]
	candidate  *Node // [Z,N,B] z_{i→j} of every slot j
	key, value *Node // [heads,Z/heads,N,B] of the candidates
	seen       *Node // [N,B] 1 where a slot was refreshed
}

// Context computes f_n and f_{n-1}.
//
// paper:app:graph_structure  nodes, relations, attention over the queue, graph network
func (m *graphMemory) Context(sc *model.Scope, in []*Node) Context {
	m.scope = sc.Scope()
	fresh := len(nn.Variables(sc.Store(), m.scope)) == 0
	loss := m.detectorLoss(sc, in) // first: without a use, its nodes must not be the graph's last, which the Go backend refuses
	obs, seen, own := in[0], in[1], in[2]
	moments := make([]impression, m.queue.keep)
	for h := range moments {
		moments[h] = m.impress(sc, at(obs, h), at(seen, h), own)
	}
	f := Context{
		Now:    m.feature(sc, moments[:m.Queue+1], own),
		Before: m.feature(sc, moments[1:], own),
		Exists: in[3],
		Loss:   loss,
	}
	m.startPretrained(sc, fresh)
	return f
}

// startPretrained freezes a pre-trained detector with the encoder below it, and gives fresh variables their values.
func (m *graphMemory) startPretrained(sc *model.Scope, fresh bool) {
	if m.weights == nil {
		return
	}
	frozen := []string{"encoder", "detector"}
	for _, part := range frozen {
		for _, v := range nn.Variables(sc.Store(), sc.At("%s", part).Scope()) {
			v.SetTrainable(false)
		}
	}
	if !fresh {
		return
	}
	if m.Pretrain == PretrainFull {
		frozen = pretrainedParts
	}
	m.weights.install(sc.Store(), m.scope, frozen)
}

// detectorLoss is λ·L_det [B], nil if the detector does not learn.
func (m *graphMemory) detectorLoss(sc *model.Scope, in []*Node) *Node {
	if m.Online {
		own := Transpose(in[2], 0, 1)
		return MulScalar(detectionLoss(m.logits(sc, in[4]), in[5], own), m.Coef)
	}
	m.logits(sc, at(in[0], 0)) // makes the variables, which Watch uses
	for _, v := range nn.Variables(sc.Store(), sc.At("detector").Scope()) {
		v.SetTrainable(false)
	}
	return nil
}

// impress encodes the observation of one moment, obs [B,O], seen and own [N,B].
func (m *graphMemory) impress(sc *model.Scope, obs, seen, own *Node) impression {
	b := obs.Shape().Dimensions[0]
	e := Transpose(Encode(sc.At("encoder"), obs, m.Embed, true), 0, 1)
	z := m.nodes(sc.At("node"), e, own)
	split := func(name string) *Node {
		return Reshape(project(sc.At("attention"), name, z, m.Node), m.Heads, m.Node/m.Heads, m.agents, b)
	}
	return impression{embedding: e, candidate: z, key: split("key"), value: split("value"), seen: seen}
}

// nodes are the candidates z_{i→j} = MLP[e, onehot(i), onehot(j)] [Z,N,B] of observer i for every slot j, the observer's own
// among them, for e [D,B] and own [N,B].
//
// Reading: what the observer knows of j is what j's slot of its own observation's encoding says; nothing of j is read.
func (m *graphMemory) nodes(sc *model.Scope, e, own *Node) *Node {
	b, inputs := e.Shape().Dimensions[1], m.Embed+2*m.agents
	observer := nn.Weight(sc, e, "observer", nn.FanIn(inputs), pairHidden, m.agents)
	subject := nn.Weight(sc, e, "subject", nn.FanIn(inputs), pairHidden, m.agents)
	// The product with a one-hot vector is a column of the weights, so the first layer needs no matrix product per pair.
	x := Add(m.firstLayer(sc, e, inputs), Dot(observer, own).Product())
	return m.outerLayers(sc, Add(Reshape(x, pairHidden, 1, b), Reshape(subject, pairHidden, m.agents, 1)), m.Node)
}

// relations are the edge features MLP[e, onehot(j), onehot(k)] [L,N,N,B] from source k to destination j, for e [D,B].
//
// Reading: edges are 2-D relative positions in the text, 16-D in the table; here 16-D, and a linear head on them predicts
// positions in pre-training (D12).
func (m *graphMemory) relations(sc *model.Scope, e *Node) *Node {
	b, n, inputs := e.Shape().Dimensions[1], m.agents, m.Embed+2*m.agents
	to := nn.Weight(sc, e, "to", nn.FanIn(inputs), pairHidden, n)
	from := nn.Weight(sc, e, "from", nn.FanIn(inputs), pairHidden, n)
	pairs := Add(Reshape(to, pairHidden, n, 1, 1), Reshape(from, pairHidden, 1, n, 1))
	return m.outerLayers(sc, Add(Reshape(m.firstLayer(sc, e, inputs), pairHidden, 1, 1, b), pairs), m.Edge)
}

// firstLayer is the embedding's share of an encoder's first layer, with its bias: e [D,B] to [·,B].
func (m *graphMemory) firstLayer(sc *model.Scope, e *Node, inputs int) *Node {
	w := nn.Weight(sc, e, "embedding", nn.FanIn(inputs), pairHidden, m.Embed)
	return Add(Dot(w, e).Product(), nn.Weight(sc, e, "bias", nn.FanIn(inputs), pairHidden, 1))
}

// outerLayers are the rest of an encoder, for x [128,...,B] before the first activation: [out,...,B].
func (m *graphMemory) outerLayers(sc *model.Scope, x *Node, out int) *Node {
	dims := x.Shape().Clone().Dimensions
	y := nn.LeakyReLU(nn.Affine(sc.At("layer_1"), flat(nn.LeakyReLU(x)), pairHidden))
	dims[0] = out
	return Reshape(nn.Affine(sc.At("out"), y, out), dims...)
}

// feature is f [B,F] of the graph made at moments[0], whose queue the others are, latest first.
func (m *graphMemory) feature(sc *model.Scope, moments []impression, own *Node) *Node {
	b, n := own.Shape().Dimensions[1], m.agents
	present := own // or seen at any of the moments
	for _, i := range moments {
		present = Max(present, i.seen)
	}
	nodes := m.recall(sc.At("attention"), moments)
	relations := m.relations(sc.At("edge"), moments[0].embedding)
	for i := range m.Layers - 1 {
		nodes = m.layer(sc.At("graph_%d", i), nodes, nodes, relations, present, m.Hidden, true)
	}
	// Only the observer's own node is read, so the last layer has one destination.
	reader := ReduceAndKeep(Mul(nodes, Reshape(own, 1, n, b)), ReduceSum, 1)
	toReader := ReduceAndKeep(Mul(relations, Reshape(own, 1, n, 1, b)), ReduceSum, 1)
	f := m.layer(sc.At("graph_%d", m.Layers-1), nodes, reader, toReader, present, m.Width, false)
	return Transpose(Reshape(f, m.Width, b), 0, 1)
}

// recall lets every slot attend over its candidates: that of the present moment, and those of the moments before at which it
// was refreshed. It returns nodes [Z,N,B].
//
// The four projections have no bias. Those of keys and values would change nothing or only shift the output; and of the ages'
// embeddings the present's would shift all scores alike, so it is left out.
func (m *graphMemory) recall(sc *model.Scope, moments []impression) *Node {
	now := moments[0]
	dims := now.key.Shape().Dimensions
	heads, d, n, b := dims[0], dims[1], dims[2], dims[3]
	query := Reshape(project(sc, "query", now.candidate, m.Node), dims...)
	ages := Reshape(nn.Weight(sc, query, "age", nn.FanIn(m.Node), m.Node, m.Queue), heads, d, m.Queue, 1)

	scores := make([]*Node, len(moments)) // [heads,N,B] each
	for age, then := range moments {
		key := then.key
		if age > 0 {
			key = Add(key, Slice(ages, AxisRange(), AxisRange(), AxisElem(age-1)))
		}
		scores[age] = DivScalar(ReduceSum(Mul(query, key), 1), math.Sqrt(float64(d)))
		if age > 0 {
			scores[age] = Add(scores[age], closed(Reshape(then.seen, 1, n, b)))
		}
	}
	weights := Softmax(Stack(scores, 0), 0)
	recalled := ZerosLike(query)
	for age, then := range moments {
		recalled = Add(recalled, Mul(Reshape(at(weights, age), heads, 1, n, b), then.value))
	}
	out := project(sc, "output", Reshape(recalled, m.Node, n, b), m.Node)
	return normalizeFeatures(Add(now.candidate, out))
}

// layer is a graph layer with attention of the GATv2 form (Brody et al. 2022), from nodes [I,N,B] to the destinations
// to [I,M,B] along relations [L,M,N,B]; absent sources, 0 in present [N,B], are left out: [out,M,B].
//
//	score(j←k) = a·LeakyReLU(W_d·h_j + W_s·h_k + W_e·f_jk), message_j = Σ_k softmax_k(score)·W_s·h_k
//	h'_j = LayerNorm(ELU(message_j) + W_r·h_j)
func (m *graphMemory) layer(sc *model.Scope, nodes, to, relations, present *Node, out int, activate bool) *Node {
	dims := relations.Shape().Dimensions
	dst, n, b := dims[1], dims[2], dims[3]
	heads, d := m.Heads, out/m.Heads
	source := Reshape(nn.Affine(sc.At("source"), flat(nodes), out), heads, d, 1, n, b)
	destination := Reshape(nn.Affine(sc.At("destination"), flat(to), out), heads, d, dst, 1, b)
	along := Reshape(project(sc, "edge", relations, out), heads, d, dst, n, b)
	a := Reshape(nn.Weight(sc, nodes, "score", nn.FanIn(d), heads, d), heads, d, 1, 1, 1)

	score := ReduceSum(Mul(nn.LeakyReLU(Add(Add(destination, source), along)), a), 1) // [heads,M,N,B]
	score = Add(score, closed(Reshape(present, 1, 1, n, b)))
	message := ReduceSum(Mul(InsertAxes(Softmax(score, 2), 1), source), 3) // [heads,d,M,B]
	message = Reshape(message, out, dst, b)
	if activate {
		message = elu(message)
	}
	residual := Reshape(nn.Affine(sc.At("residual"), flat(to), out), out, dst, b)
	return normalizeFeatures(Add(message, residual))
}

// project is W·x over the first axis of x [I,...], without bias: [out,...].
func project(sc *model.Scope, name string, x *Node, out int) *Node {
	dims := x.Shape().Clone().Dimensions
	w := nn.Weight(sc, x, name, nn.FanIn(dims[0]), out, dims[0])
	dims[0] = out
	return Reshape(Dot(w, flat(x)).Product(), dims...)
}

// closed is 0 where open is 1, and where open is 0 so low that a softmax makes it exactly 0.
func closed(open *Node) *Node { return MulScalar(AddScalar(open, -1), 1e9) }

// flat reshapes x [F,...] to [F,·].
func flat(x *Node) *Node { return Reshape(x, x.Shape().Dimensions[0], -1) }

// elu is x for x > 0, else eˣ - 1.
func elu(x *Node) *Node {
	zero := ZerosLike(x)
	return Add(Max(x, zero), MinusOne(Exp(Min(x, zero))))
}

// normalizeFeatures is nn.Normalize over the first axis.
func normalizeFeatures(x *Node) *Node {
	centred := Sub(x, ReduceAndKeep(x, ReduceMean, 0))
	return Div(centred, Sqrt(AddScalar(ReduceAndKeep(Square(centred), ReduceMean, 0), 1e-5)))
}
