// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// Everything in this file is feature-major: features first, agent steps last. Matrix products then contract over the
// contiguous axis, and sums over features run along contiguous agent steps. G = 2 is the axis of graphs, G_n before G_{n-1}.
const graphs = 2

// pairHidden is the width of the hidden layers of the node and of the edge encoder; the paper's table of memory sizes: 128.
const pairHidden = 128

// Context computes f_n and f_{n-1}.
//
// paper:app:graph_structure  nodes, relations, attention over the queue, graph network
func (m *graphMemory) Context(sc *model.Scope, in []*Node) Context {
	m.scope = sc.Scope()
	obs, seen, own := in[0], in[1], in[2] // [H,B,O], [H,N,B], [N,B]
	h, b, n := obs.Shape().Dimensions[0], obs.Shape().Dimensions[1], m.agents
	loss := m.detectorLoss(sc, in) // first: without a use, its nodes must not be the graph's last, which the Go backend refuses
	e := Encode(sc.At("encoder"), Reshape(obs, h*b, m.obs), m.Embed, true)
	e = Reshape(Transpose(e, 0, 1), m.Embed, h, b)

	candidates := m.nodes(sc.At("node"), e, own)                                           // [Z,H,N,B]
	relations := m.relations(sc.At("edge"), Slice(e, AxisRange(), AxisRange(0, graphs)))   // [L,G,N,N,B]
	nodes := m.recall(sc.At("attention"), candidates, seen)                                // [Z,G,N,B]
	present := Max(m.everSeen(seen), BroadcastToDims(Reshape(own, 1, n, b), graphs, n, b)) // [G,N,B]
	self := Reshape(own, 1, 1, n, b)                                                       //
	toSelf := ReduceAndKeep(Mul(relations, Reshape(own, 1, 1, n, 1, b)), ReduceSum, 2)     // [L,G,1,N,B]
	for i := range m.Layers - 1 {
		nodes = m.layer(sc.At("graph_%d", i), nodes, nodes, relations, present, m.Hidden, true)
	}
	reader := ReduceAndKeep(Mul(nodes, self), ReduceSum, 2) // only the observer's own node is read: [.,G,1,B]
	f := m.layer(sc.At("graph_%d", m.Layers-1), nodes, reader, toSelf, present, m.Width, false)
	f = Reshape(f, m.Width, graphs, b)
	feature := func(g int) *Node { return Transpose(Squeeze(Slice(f, AxisRange(), AxisElem(g)), 1), 0, 1) }
	return Context{Now: feature(0), Before: feature(1), Exists: in[3], Loss: loss}
}

// detectorLoss is λ·L_det [B], nil if the detector does not learn.
func (m *graphMemory) detectorLoss(sc *model.Scope, in []*Node) *Node {
	if m.Online {
		own := Transpose(in[2], 0, 1)
		return MulScalar(detectionLoss(m.logits(sc, in[4]), in[5], own), m.Coef)
	}
	m.logits(sc, Squeeze(Slice(in[0], AxisElem(0)), 0)) // makes the variables, which Watch uses
	for _, v := range nn.Variables(sc.Store(), sc.At("detector").Scope()) {
		v.SetTrainable(false)
	}
	return nil
}

// everSeen is 1 for the slots refreshed at the present or at a queued moment of each graph [G,N,B], for seen [H,N,B].
func (m *graphMemory) everSeen(seen *Node) *Node {
	any := Slice(seen, AxisRange(0, graphs))
	for age := 1; age <= m.Queue; age++ {
		any = Max(any, Slice(seen, AxisRange(age, age+graphs)))
	}
	return any
}

// nodes are the candidates z_{i→j} = MLP[e, onehot(i), onehot(j)] [Z,H,N,B] of observer i for every slot j, the observer's own
// among them, for e [D,H,B] and own [N,B].
//
// Reading: what the observer knows of j is what j's slot of its own observation's encoding says; nothing of j is read.
func (m *graphMemory) nodes(sc *model.Scope, e, own *Node) *Node {
	h, b := e.Shape().Dimensions[1], e.Shape().Dimensions[2]
	inputs := m.Embed + 2*m.agents
	observer := nn.Weight(sc, e, "observer", nn.FanIn(inputs), pairHidden, m.agents)
	subject := nn.Weight(sc, e, "subject", nn.FanIn(inputs), pairHidden, m.agents)
	// The product with a one-hot vector is a column of the weights, so the first layer needs no matrix product per pair.
	x := Reshape(m.firstLayer(sc, e, inputs), pairHidden, h, 1, b)
	x = Add(x, Reshape(Dot(observer, own).Product(), pairHidden, 1, 1, b))
	x = Add(x, Reshape(subject, pairHidden, 1, m.agents, 1))
	return m.outerLayers(sc, x, m.Node)
}

// relations are the edge features MLP[e, onehot(j), onehot(k)] [L,G,N,N,B] from source k to destination j, for e [D,G,B].
//
// Reading: edges are 2-D relative positions in the text, 16-D in the table; here 16-D, and a linear head on them predicts
// positions in pre-training (D12).
func (m *graphMemory) relations(sc *model.Scope, e *Node) *Node {
	b, n := e.Shape().Dimensions[2], m.agents
	inputs := m.Embed + 2*n
	to := nn.Weight(sc, e, "to", nn.FanIn(inputs), pairHidden, n)
	from := nn.Weight(sc, e, "from", nn.FanIn(inputs), pairHidden, n)
	x := Reshape(m.firstLayer(sc, e, inputs), pairHidden, graphs, 1, 1, b)
	x = Add(x, Add(Reshape(to, pairHidden, 1, n, 1, 1), Reshape(from, pairHidden, 1, 1, n, 1)))
	return m.outerLayers(sc, x, m.Edge)
}

// firstLayer is the embedding's share of an encoder's first layer, with its bias: e [D,H,B] to [·,H·B].
func (m *graphMemory) firstLayer(sc *model.Scope, e *Node, inputs int) *Node {
	w := nn.Weight(sc, e, "embedding", nn.FanIn(inputs), pairHidden, m.Embed)
	bias := nn.Weight(sc, e, "bias", nn.FanIn(inputs), pairHidden, 1)
	return Add(Dot(w, flat(e)).Product(), bias)
}

// outerLayers are the rest of an encoder, for x [128,...,B] before the first activation: [out,...,B].
func (m *graphMemory) outerLayers(sc *model.Scope, x *Node, out int) *Node {
	dims := x.Shape().Clone().Dimensions
	y := nn.LeakyReLU(nn.Affine(sc.At("layer_1"), flat(nn.LeakyReLU(x)), pairHidden))
	dims[0] = out
	return Reshape(nn.Affine(sc.At("out"), y, out), dims...)
}

// recall lets every slot attend over its candidates: the present one, and those of the Q moments before at which it was
// refreshed. candidates [Z,H,N,B] and seen [H,N,B] become nodes [Z,G,N,B].
//
// The four projections have no bias. Those of keys and values would change nothing or only shift the output; and of the ages'
// embeddings the present's would shift all scores alike, so it is left out.
func (m *graphMemory) recall(sc *model.Scope, candidates, seen *Node) *Node {
	z, h, n, b := m.Node, candidates.Shape().Dimensions[1], m.agents, seen.Shape().Dimensions[2]
	heads, d := m.Heads, m.Node/m.Heads
	project := func(name string, x *Node) *Node {
		return Dot(nn.Weight(sc, x, name, nn.FanIn(z), z, z), flat(x)).Product()
	}
	now := Slice(candidates, AxisRange(), AxisRange(0, graphs))
	query := Reshape(project("query", now), heads, d, graphs, n, b)
	keys := Reshape(project("key", candidates), heads, d, h, n, b)
	values := Reshape(project("value", candidates), heads, d, h, n, b)
	ages := Reshape(nn.Weight(sc, candidates, "age", nn.FanIn(z), z, m.Queue), heads, d, m.Queue, 1, 1)

	window := func(x *Node, age int) *Node { return Slice(x, AxisRange(), AxisRange(), AxisRange(age, age+graphs)) }
	scores := make([]*Node, m.Queue+1) // [heads,G,N,B] each
	for age := range scores {
		key := window(keys, age)
		if age > 0 {
			key = Add(key, Slice(ages, AxisRange(), AxisRange(), AxisElem(age-1)))
		}
		scores[age] = DivScalar(ReduceSum(Mul(query, key), 1), math.Sqrt(float64(d)))
		if age > 0 {
			scores[age] = Add(scores[age], closed(InsertAxes(Slice(seen, AxisRange(age, age+graphs)), 0)))
		}
	}
	weights := Softmax(Stack(scores, 0), 0)
	var recalled *Node
	for age := range scores {
		part := Mul(InsertAxes(at(weights, age), 1), window(values, age))
		if recalled == nil {
			recalled = part
		} else {
			recalled = Add(recalled, part)
		}
	}
	out := Reshape(project("output", Reshape(recalled, z, graphs, n, b)), z, graphs, n, b)
	return normalizeFeatures(Add(now, out))
}

// layer is a graph layer with attention of the GATv2 form (Brody et al. 2022), from nodes [I,G,N,B] to the destinations
// to [I,G,M,B] along relations [L,G,M,N,B]; absent sources, 0 in present [G,N,B], are left out: [out,G,M,B].
//
//	score(j←k) = a·LeakyReLU(W_d·h_j + W_s·h_k + W_e·f_jk), message_j = Σ_k softmax_k(score)·W_s·h_k
//	h'_j = LayerNorm(ELU(message_j) + W_r·h_j)
func (m *graphMemory) layer(sc *model.Scope, nodes, to, relations, present *Node, out int, activate bool) *Node {
	dims := relations.Shape().Dimensions
	dst, n, b := dims[2], dims[3], dims[4]
	heads, d := m.Heads, out/m.Heads
	source := Reshape(nn.Affine(sc.At("source"), flat(nodes), out), heads, d, graphs, 1, n, b)
	destination := Reshape(nn.Affine(sc.At("destination"), flat(to), out), heads, d, graphs, dst, 1, b)
	edge := nn.Weight(sc, nodes, "edge", nn.FanIn(m.Edge), out, m.Edge)
	along := Reshape(Dot(edge, flat(relations)).Product(), heads, d, graphs, dst, n, b)
	a := Reshape(nn.Weight(sc, nodes, "score", nn.FanIn(d), heads, d), heads, d, 1, 1, 1, 1)

	score := ReduceSum(Mul(nn.LeakyReLU(Add(Add(destination, source), along)), a), 1) // [heads,G,M,N,B]
	score = Add(score, closed(Reshape(present, 1, graphs, 1, n, b)))
	message := ReduceSum(Mul(InsertAxes(Softmax(score, 3), 1), source), 4) // [heads,d,G,M,B]
	message = Reshape(message, out, graphs, dst, b)
	if activate {
		message = elu(message)
	}
	residual := Reshape(nn.Affine(sc.At("residual"), flat(to), out), out, graphs, dst, b)
	return normalizeFeatures(Add(message, residual))
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
