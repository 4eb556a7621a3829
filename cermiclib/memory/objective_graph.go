// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// graphObjective is what a graph memory learns before there is a policy: first the detector and the edge encoder with
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
type graphObjective struct {
	m *graphMemory
	x *play
}

func (c DynamicGraph) objective(b *nn.Build, x *play) (objective, error) {
	c.Online = true // the detector is a part of it
	m, err := c.Build(b)
	if err != nil {
		return nil, err
	}
	return &graphObjective{m.(*graphMemory), x}, nil
}

func (graphObjective) chunk() int      { return 1 }
func (graphObjective) parts() []string { return graphParts }
func (graphObjective) watch() error    { return nil }

func (graphObjective) stages() []stage {
	return []stage{
		{"detector", func(path string) bool { return ofDetector(path) || strings.Contains(path, "/edge/") }},
		{"encoders", func(path string) bool { return !ofDetector(path) }},
	}
}

func (l *graphObjective) inputs(b int) []nn.Input {
	return append([]nn.Input{nn.F32("obs", b, l.m.obs)}, l.x.inputs(b)...)
}

func (l *graphObjective) feed(p *nn.Program, rows []int32) {
	o := l.m.obs
	p.Feed(0, func(dst []float32) {
		for k, row := range rows {
			l.x.Gather(dst[k*o:(k+1)*o], int(row))
		}
	})
	l.x.feed(p, 1, rows)
}

func (l *graphObjective) outputs(sc *model.Scope, in []*Node) outcome {
	m, n := l.m, l.m.agents
	own, label := in[1+inOwn], in[1+inLabel]
	b := own.Shape().Dimensions[1]
	embedded := m.encode(sc, in[0])
	logits := m.logits(sc, embedded)
	probability := Mul(Sigmoid(logits), OneMinus(Transpose(own, 0, 1)))

	live := Transpose(embedded, 0, 1)
	e := StopGradient(live)
	heads := sc.At("heads")
	target := l.x.targets(sc.Store(), in[1+inTarget], m.Embed)
	predicted := nn.Affine(heads.At("node"), flat(m.nodes(sc.At("node"), e, own)), target.Shape().Dimensions[1])
	miss := ReduceSum(Square(Sub(predicted, StopGradient(Transpose(target, 0, 1)))), 0) // [N·B]
	p := Transpose(StopGradient(probability), 0, 1)
	sure := ConvertDType(GreaterOrEqual(p, ConstAs(p, m.Threshold)), p.DType())
	nodeLoss := ReduceSum(Mul(Reshape(miss, n, b), Mul(p, sure)), 0)

	positions := func(e *Node) (offset, loss *Node) { // of the observer's relations [2,N,B], [B]
		relations := ReduceSum(Mul(m.relations(sc.At("edge"), e), Reshape(own, 1, n, 1, b)), 1) // [L,N,B]
		offset = Reshape(nn.Affine(heads.At("edge"), flat(relations), 2), 2, n, b)
		return offset, offsetLoss(offset, in[1:])
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

// targets are s_j [N·B,D] of every agent: random encodings of the observations [N,B,I].
func (x *play) targets(store *model.Store, obs *Node, width int) *Node {
	obs = Reshape(obs, -1, x.Spec.InLen())
	return nn.Encode(store.Scope("/pretrain/target"), x.Spec, obs, width, true)
}
