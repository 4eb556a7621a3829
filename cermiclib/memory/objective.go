// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// objective is what a kind of memory learns from random play, in stages.
type objective struct {
	chunk  int // L, consecutive steps of one agent that make one sample
	stages []stage
	parts  []string // scopes below the memory's that are kept
	inputs func(b int) []nn.Input
	feed   func(p *nn.Program, rows []int32)
	// outputs builds the memory and its heads at sc.
	outputs func(sc *model.Scope, in []*Node) outcome
	// watch prepares for minibatches with the weights as they are.
	watch func() error
}

// stage is a part of an objective with a loss of its own.
type stage struct {
	name   string
	trains func(path string) bool // whether it trains the variable
}

// outcome is what an objective says about B agent steps.
type outcome struct {
	probability *Node   // [B,N] of the detector; nil without one
	offset      *Node   // [2,N,B] where the others are, relative to the observer
	losses      []*Node // [B] one a stage
}

// objective is what a graph memory learns before there is a policy: first the detector and the edge encoder with
// the observation's encoder below both, then, detector and that encoder frozen, the node and the edge encoder.
//
// paper:app:pretraining_details_v3  detector: Σ BCE; nodes: Σ_{j≠k} p_{k→j}·‖P·z_{k→j} - s_j‖²; edges: ‖P·f_kj - (Δx, Δy)‖²
//
// Reading: nodes and edges are wider than what they shall predict, so each gets a linear head P, which is dropped
// afterwards (D12). p counts from the detector's threshold on. Edges are trained for the observer's own relations to
// peers within sight, the only ones whose far end it can see: over all pairs, those out of sight make up most of the
// loss and pull every prediction to their mean.
//
// Deviation: the encoder learns from positions as well as from presence. One that has learnt presence alone is frozen
// with little in it that a position could be read from.
func (c DynamicGraph) objective(b *nn.Build, x *play) (*objective, error) {
	c.Online = true // the detector is a part of it
	built, err := c.Build(b)
	if err != nil {
		return nil, err
	}
	m := built.(*graphMemory)
	return &objective{
		chunk: 1, parts: graphParts,
		stages: []stage{
			{"detector", func(path string) bool { return ofDetector(path) || strings.Contains(path, "/edge/") }},
			{"encoders", func(path string) bool { return !ofDetector(path) }},
		},
		inputs: func(b int) []nn.Input { return append([]nn.Input{nn.F32("obs", b, m.obs)}, x.inputs(b)...) },
		feed: func(p *nn.Program, rows []int32) {
			nn.FeedEach(p, 0, rows, x.Gather)
			x.feed(p, 1, rows)
		},
		outputs: func(sc *model.Scope, in []*Node) outcome { return m.learn(sc, x, in[0], in[1:]) },
		watch:   func() error { return nil },
	}, nil
}

// ofDetector reports whether a variable's path is one of the parts that a frozen detector consists of.
func ofDetector(path string) bool {
	return strings.Contains(path, "/memory/encoder/") || strings.Contains(path, "/memory/detector/")
}

// learn builds the detector and both encoders on obs [B,I]; in are the inputs that every objective has.
func (m *graphMemory) learn(sc *model.Scope, x *play, obs *Node, in []*Node) outcome {
	n := m.agents
	own, label := in[inOwn], in[inLabel]
	b := own.Shape().Dimensions[1]
	embedded := m.encode(sc, obs)
	logits := m.logits(sc, embedded)
	probability := Mul(Sigmoid(logits), OneMinus(Transpose(own, 0, 1)))

	live := Transpose(embedded, 0, 1)
	e := StopGradient(live)
	heads := sc.At("heads")
	target := x.targets(sc.Store(), in[inTarget], m.Embed)
	predicted := nn.Affine(heads.At("node"), flat(m.nodes(sc.At("node"), e, own)), target.Shape().Dimensions[1])
	miss := ReduceSum(Square(Sub(predicted, StopGradient(Transpose(target, 0, 1)))), 0) // [N·B]
	p := Transpose(StopGradient(probability), 0, 1)
	sure := ConvertDType(GreaterOrEqual(p, ConstAs(p, m.Threshold)), p.DType())
	nodeLoss := ReduceSum(Mul(Reshape(miss, n, b), Mul(p, sure)), 0)

	positions := func(e *Node) (offset, loss *Node) { // of the observer's relations [2,N,B], [B]
		relations := ReduceSum(Mul(m.relations(sc.At("edge"), e), Reshape(own, 1, n, 1, b)), 1) // [L,N,B]
		offset = Reshape(nn.Affine(heads.At("edge"), flat(relations), 2), 2, n, b)
		return offset, offsetLoss(offset, in)
	}
	_, learning := positions(live)
	offset, edgeLoss := positions(e)
	presence := detectionLoss(logits, label, Transpose(own, 0, 1))
	return outcome{probability, offset, []*Node{Add(presence, learning), Add(nodeLoss, edgeLoss)}}
}

// offsetLoss is the squared error [B] of relative positions [2,N,B] of peers in sight; in are the inputs that every
// objective has.
func offsetLoss(offset *Node, in []*Node) *Node {
	sight := Mul(Transpose(in[inLabel], 0, 1), OneMinus(in[inOwn]))
	return ReduceSum(Mul(ReduceSum(Square(Sub(offset, in[inOffset])), 0), sight), 0)
}

// headsObjective is what a memory without detector, nodes and edges learns before there is a policy: linear heads on
// f predict, of every peer in sight, s_j and where it is; they are dropped afterwards.
//
//	Σ_{j≠k} y_kj·( ‖P_j·f - s_j‖²/D + ‖E_j·f - (Δx, Δy)‖² )
//
// Reading: the appendix pre-trains the graph alone. Weights are the true presence y, since there is no detector to
// ask; s_j counts by its mean over components, since its D numbers would drown the two of a position in the one f
// that both are read from.
func headsObjective(m Memory, x *play, embed int, parts []string) *objective {
	return &objective{
		chunk: m.Shape().Chunk, parts: parts,
		stages: []stage{{"heads", func(string) bool { return true }}},
		inputs: func(b int) []nn.Input { return append(x.inputs(b), m.Inputs(b)...) },
		feed: func(p *nn.Program, rows []int32) {
			x.feed(p, 0, rows)
			m.Gather(p, playInputs, x.Rollout, rows)
		},
		outputs: func(sc *model.Scope, in []*Node) outcome {
			n, b := x.N, in[inOwn].Shape().Dimensions[1]
			f := m.Context(sc, in[playInputs:]).Now
			target := x.targets(sc.Store(), in[inTarget], embed)
			width := target.Shape().Dimensions[1]
			predicted := Transpose(Reshape(nn.Linear(sc.At("heads").At("node"), f, n*width), b, n, width), 0, 1)
			miss := ReduceMean(Square(Sub(predicted, StopGradient(Reshape(target, n, b, width)))), -1)
			sight := Mul(Transpose(in[inLabel], 0, 1), OneMinus(in[inOwn]))
			offset := Reshape(Transpose(nn.Linear(sc.At("heads").At("edge"), f, 2*n), 0, 1), 2, n, b)
			return outcome{offset: offset, losses: []*Node{Add(ReduceSum(Mul(miss, sight), 0), offsetLoss(offset, in))}}
		},
		watch: func() error { // walks the play from its beginning, so that hidden states are those of the present weights
			if w, ok := m.(Watcher); ok {
				return w.Watch(x.Rollout)
			}
			return nil
		},
	}
}

func (c GRU) objective(b *nn.Build, x *play) (*objective, error) {
	m, err := c.Build(b)
	if err != nil {
		return nil, err
	}
	return headsObjective(m, x, c.Embed, c.parts()), nil
}

func (c MLP) objective(b *nn.Build, x *play) (*objective, error) {
	m, err := c.Build(b)
	if err != nil {
		return nil, err
	}
	return headsObjective(m, x, c.Embed, mlpParts), nil
}
