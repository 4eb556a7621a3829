// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// Everything in this file is feature-major: features first, agent steps last. Matrix products then contract over the
// contiguous axis, and sums over features run along contiguous agent steps. Where a function has one axis B for
// these, it may be moments or graphs times chunks.

// PairHidden is the width of the hidden layers of the graph's node and edge encoders; the paper's table of memory
// sizes: 128.
const PairHidden = 128

// Context computes f_n and f_{n-1}.
//
// The steps of a chunk refer to overlapping moments and graphs: L + Q + 1 moments and G = L + 1 graphs. The last L
// graphs are f_n of some step, the first L are f_{n-1}. Each is computed once.
//
// paper:app:graph_structure  nodes, relations, attention over the queue, graph network
func (m *graphMemory) Context(sc *model.Scope, in []*Node) Context {
	m.scope = sc.Scope()
	fresh := len(nn.Variables(sc.Store(), m.scope)) == 0
	var out Context
	m.learnToDetect(sc, in, &out) // first: the Go backend refuses unused nodes at a graph's end
	obs, seen, own, pick := in[0], in[1], in[2], in[3]
	moments, chunks := obs.Shape().Dimensions[0], obs.Shape().Dimensions[1]
	e := Transpose(m.encode(sc, Reshape(obs, moments*chunks, m.obs)), 0, 1)
	w := window{
		candidates: Reshape(m.nodes(sc.At("node"), e, m.everywhere(own, moments)), m.Node, m.agents, moments, chunks),
		embedding:  m.graphs(Reshape(e, m.Embed, moments, chunks)),
		seen:       seen,
		own:        m.everywhere(own, m.Chunk+1),
	}
	f := TransposeAllDims(Reshape(m.feature(sc, w), m.Width, m.Chunk+1, chunks), 2, 1, 0) // [C,G,F]
	of := func(first int) *Node {                                                         // graphs of steps from first on
		f := Slice(f, AxisRange(), AxisRange(first, first+m.Chunk))
		return Reshape(Einsum("clg,cgf->clf", pick, f), chunks*m.Chunk, m.Width)
	}
	out.Now, out.Before, out.Exists = of(1), of(0), in[4]
	m.startPretrained(sc, fresh)
	return out
}

// window is what the chunks of a minibatch are computed from.
type window struct {
	candidates *Node // [Z,N,M,C] z_{i→j} of every slot j at every moment
	embedding  *Node // [D,G·C] of the moments at which graphs were made
	seen       *Node // [Q+1,N,G,C] 1 where a slot was refreshed, by age: at the graph's own moment, at the one before, ...
	own        *Node // [N,G·C] one-hot of the observer
}

// everywhere repeats own [N,C] for each of count moments or graphs: [N,count·C].
func (m *graphMemory) everywhere(own *Node, count int) *Node {
	n, c := own.Shape().Dimensions[0], own.Shape().Dimensions[1]
	return Reshape(BroadcastToDims(InsertAxes(own, 1), n, count, c), n, count*c)
}

// graphs takes the moments at which the graphs of a window were made, the last G, out of x [...,≥G,C]: [...,G·C].
func (m *graphMemory) graphs(x *Node) *Node {
	dims := x.Shape().Clone().Dimensions
	last := len(dims) - 1
	x = SliceAxis(x, last-1, AxisRangeToEnd(dims[last-1]-m.Chunk-1))
	return Reshape(x, append(dims[:last-1], -1)...)
}

// startPretrained freezes a pre-trained detector with the encoder below it, and gives fresh variables their values.
func (m *graphMemory) startPretrained(sc *model.Scope, fresh bool) {
	if m.weights == nil {
		return
	}
	parts := []string{"encoder", "detector"}
	for _, part := range parts {
		for _, v := range nn.Variables(sc.Store(), sc.At("%s", part).Scope()) {
			v.SetTrainable(false)
		}
	}
	if m.Pretrain == PretrainFull {
		parts = graphParts
	}
	m.weights.fill(sc, fresh, parts)
}

// learnToDetect fills in the loss λ·L_det and the accuracy of a detector that learns.
func (m *graphMemory) learnToDetect(sc *model.Scope, in []*Node, out *Context) {
	if !m.detectorLearns() {
		m.logits(sc, m.encode(sc, at(in[0], 0))) // makes the variables, which Watch uses
		return
	}
	chunks := in[2].Shape().Dimensions[1]
	own := BroadcastToDims(InsertAxes(Transpose(in[2], 0, 1), 1), chunks, m.Chunk, m.agents)
	own = Reshape(own, chunks*m.Chunk, m.agents)
	logits, labels := m.logits(sc, m.encode(sc, in[5])), in[6]
	out.detect(logits, labels, own, m.Threshold, m.Coef)
}

// nodes are the candidates z_{i→j} = MLP[e, onehot(i), onehot(j)] [Z,N,B] of observer i for every slot j, the
// observer's own among them, for e [D,B] and own [N,B].
//
// Reading: about j, the encoder reads only j's slot and the embedding of the observer's own observation.
func (m *graphMemory) nodes(sc *model.Scope, e, own *Node) *Node {
	b, inputs := e.Shape().Dimensions[1], m.Embed+2*m.agents
	observer := nn.Weight(sc, e, "observer", nn.FanIn(inputs), PairHidden, m.agents)
	subject := nn.Weight(sc, e, "subject", nn.FanIn(inputs), PairHidden, m.agents)
	// The product with a one-hot vector is a column of the weights, so the first layer needs no matrix product per
	// pair.
	x := Add(m.firstLayer(sc, e, inputs), Dot(observer, own).Product())
	return m.outerLayers(sc, Add(Reshape(x, PairHidden, 1, b), Reshape(subject, PairHidden, m.agents, 1)), m.Node)
}

// relations are the edge features MLP[e, onehot(j), onehot(k)] [L,N,N,B] from source k to destination j, for e [D,B].
//
// Reading: edges are 2-D relative positions in the text, 16-D in the table. Here they are 16-D, and a linear head on
// them predicts positions in pre-training (D12).
func (m *graphMemory) relations(sc *model.Scope, e *Node) *Node {
	b, n, inputs := e.Shape().Dimensions[1], m.agents, m.Embed+2*m.agents
	to := nn.Weight(sc, e, "to", nn.FanIn(inputs), PairHidden, n)
	from := nn.Weight(sc, e, "from", nn.FanIn(inputs), PairHidden, n)
	pairs := Add(Reshape(to, PairHidden, n, 1, 1), Reshape(from, PairHidden, 1, n, 1))
	return m.outerLayers(sc, Add(Reshape(m.firstLayer(sc, e, inputs), PairHidden, 1, 1, b), pairs), m.Edge)
}

// firstLayer is the embedding's share of an encoder's first layer, with its bias: e [D,B] to [·,B].
func (m *graphMemory) firstLayer(sc *model.Scope, e *Node, inputs int) *Node {
	w := nn.Weight(sc, e, "embedding", nn.FanIn(inputs), PairHidden, m.Embed)
	return Add(Dot(w, e).Product(), nn.Weight(sc, e, "bias", nn.FanIn(inputs), PairHidden, 1))
}

// outerLayers are the rest of an encoder, for x [128,...,B] before the first activation: [out,...,B].
func (m *graphMemory) outerLayers(sc *model.Scope, x *Node, out int) *Node {
	dims := x.Shape().Clone().Dimensions
	y := nn.LeakyReLU(nn.Affine(sc.At("layer_1"), flat(nn.LeakyReLU(x)), PairHidden))
	dims[0] = out
	return Reshape(nn.Affine(sc.At("out"), y, out), dims...)
}

// feature is f [F,G·C] of every graph of a window.
func (m *graphMemory) feature(sc *model.Scope, w window) *Node {
	n, b := m.agents, w.own.Shape().Dimensions[1]
	present := Max(w.own, Reshape(ReduceMax(w.seen, 0), n, b)) // or seen at any of the moments
	nodes := m.recall(sc.At("attention"), w)
	relations := m.relations(sc.At("edge"), w.embedding)
	for i := range m.Layers - 1 {
		nodes = m.layer(sc.At("graph_%d", i), nodes, nodes, relations, present, m.Hidden, true)
	}
	// Only the observer's own node is read, so the last layer has one destination.
	reader := ReduceAndKeep(Mul(nodes, Reshape(w.own, 1, n, b)), ReduceSum, 1)
	toReader := ReduceAndKeep(Mul(relations, Reshape(w.own, 1, n, 1, b)), ReduceSum, 1)
	f := m.layer(sc.At("graph_%d", m.Layers-1), nodes, reader, toReader, present, m.Width, false)
	return Reshape(f, m.Width, b)
}

// recall lets every slot attend over its candidates at the graph's own moment and at earlier moments that refreshed it.
// It returns nodes [Z,N,G·C].
//
// The four projections have no bias. A bias of keys or values would change nothing or only shift the output. The
// present has no age embedding, which would shift all scores alike.
//
// Reading: the paper gives the queue no length and the attention no heads: queue_len and gnn_heads (D20).
func (m *graphMemory) recall(sc *model.Scope, w window) *Node {
	dims := w.candidates.Shape().Dimensions
	heads, d, n, moments, c := m.Heads, m.Node/m.Heads, m.agents, dims[2], dims[3]
	graphs := m.Chunk + 1
	now := m.graphs(w.candidates)
	query := Reshape(project(sc, "query", now, m.Node), heads, d, n, graphs, c)
	split := func(name string) func(age int) *Node { // of the candidates of that age
		all := Reshape(project(sc, name, w.candidates, m.Node), heads, d, n, moments, c)
		return func(age int) *Node { return SliceAxis(all, 3, AxisRange(m.Queue-age, m.Queue-age+graphs)) }
	}
	keys, values := split("key"), split("value")
	ages := Reshape(nn.Weight(sc, query, "age", nn.FanIn(m.Node), m.Node, m.Queue), heads, d, m.Queue, 1, 1)

	scores := make([]*Node, m.Queue+1) // [heads,N,G,C] each
	for age := range scores {
		key := keys(age)
		if age > 0 {
			key = Add(key, SliceAxis(ages, 2, AxisElem(age-1)))
		}
		scores[age] = DivScalar(ReduceSum(Mul(query, key), 1), math.Sqrt(float64(d)))
		if age > 0 {
			scores[age] = Add(scores[age], closed(Reshape(at(w.seen, age), 1, n, graphs, c)))
		}
	}
	weights := Softmax(Stack(scores, 0), 0)
	recalled := ZerosLike(query)
	for age := range scores {
		recalled = Add(recalled, Mul(Reshape(at(weights, age), heads, 1, n, graphs, c), values(age)))
	}
	out := project(sc, "output", Reshape(recalled, m.Node, n, graphs*c), m.Node)
	return nn.NormalizeAxis(Add(now, out), 0)
}

// layer is a graph layer with attention of the GATv2 form (Brody et al. 2022), from nodes [I,N,B] to destinations to
// [I,M,B] along relations [L,M,N,B]. Absent sources, with 0 in present [N,B], are left out. The result is [out,M,B].
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
	a := nn.Weight(sc, nodes, "score", nn.FanIn(d), heads, d)
	pairs := Reshape(nn.LeakyReLU(Add(Add(destination, source), along)), heads, d, -1)
	score := Reshape(Einsum("hd,hdp->hp", a, pairs), heads, dst, n, b) // a product: on XLA twice as fast as summing axis 1
	score = Add(score, closed(Reshape(present, 1, 1, n, b)))
	weights := Softmax(score, 2)
	if m.peek != nil {
		m.peek(weights)
	}
	message := ReduceSum(Mul(InsertAxes(weights, 1), source), 3) // [heads,d,M,B]
	message = Reshape(message, out, dst, b)
	if activate {
		message = nn.ELU(message)
	}
	residual := Reshape(nn.Affine(sc.At("residual"), flat(to), out), out, dst, b)
	return nn.NormalizeAxis(Add(message, residual), 0)
}

// project is W·x over the first axis of x [I,...], without bias: [out,...].
func project(sc *model.Scope, name string, x *Node, out int) *Node {
	dims := x.Shape().Clone().Dimensions
	w := nn.Weight(sc, x, name, nn.FanIn(dims[0]), out, dims[0])
	dims[0] = out
	return Reshape(Dot(w, flat(x)).Product(), dims...)
}

// closed is an additive mask: 0 where open is 1, and where open is 0 so low that a softmax gives exactly 0.
func closed(open *Node) *Node { return MulScalar(AddScalar(open, -1), 1e9) }

// flat reshapes x [F,...] to [F,·].
func flat(x *Node) *Node { return Reshape(x, x.Shape().Dimensions[0], -1) }
