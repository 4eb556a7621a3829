// SPDX-License-Identifier: Apache-2.0

package memory

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// headsObjective is what a memory without detector, nodes and edges learns before there is a policy: linear heads on
// f predict, of every peer in sight, s_j and where it is; they are dropped afterwards.
//
//	Σ_{j≠k} y_kj·( ‖P_j·f - s_j‖²/D + ‖E_j·f - (Δx, Δy)‖² )
//
// Reading: the appendix pre-trains the graph alone. Weights are the true presence y, since there is no detector to
// ask; s_j counts by its mean over components, since its D numbers would drown the two of a position in the one f
// that both are read from.
type headsObjective struct {
	m     Memory
	x     *play
	embed int      // D of a random encoding
	kept  []string // parts
}

func (c GRU) objective(b *nn.Build, x *play) (objective, error) {
	m, err := c.Build(b)
	return &headsObjective{m, x, c.Embed, c.parts()}, err
}

func (c MLP) objective(b *nn.Build, x *play) (objective, error) {
	m, err := c.Build(b)
	return &headsObjective{m, x, c.Embed, mlpParts}, err
}

func (l *headsObjective) chunk() int      { return l.m.Shape().Chunk }
func (l *headsObjective) parts() []string { return l.kept }

// stages is one: all weights learn from both heads.
func (*headsObjective) stages() []stage {
	return []stage{{"heads", func(string) bool { return true }}}
}

// watch walks the play from its beginning, so that hidden states are those of the present weights.
func (l *headsObjective) watch() error {
	if w, ok := l.m.(Watcher); ok {
		return w.Watch(l.x.Rollout)
	}
	return nil
}

func (l *headsObjective) inputs(b int) []nn.Input { return append(l.x.inputs(b), l.m.Inputs(b)...) }

func (l *headsObjective) feed(p *nn.Program, rows []int32) {
	l.x.feed(p, 0, rows)
	l.m.Gather(p, len(l.x.inputs(1)), l.x.Rollout, rows)
}

func (l *headsObjective) outputs(sc *model.Scope, in []*Node) outcome {
	n, b := l.x.N, in[inOwn].Shape().Dimensions[1]
	f := l.m.Context(sc, in[len(l.x.inputs(1)):]).Now
	target := l.x.targets(sc.Store(), in[inTarget], l.embed)
	width := target.Shape().Dimensions[1]
	predicted := Transpose(Reshape(nn.Linear(sc.At("heads").At("node"), f, n*width), b, n, width), 0, 1)
	miss := ReduceMean(Square(Sub(predicted, StopGradient(Reshape(target, n, b, width)))), -1)
	sight := Mul(Transpose(in[inLabel], 0, 1), OneMinus(in[inOwn]))
	offset := Reshape(Transpose(nn.Linear(sc.At("heads").At("edge"), f, 2*n), 0, 1), 2, n, b)
	return outcome{offset: offset, losses: []*Node{Add(ReduceSum(Mul(miss, sight), 0), offsetLoss(offset, in))}}
}
