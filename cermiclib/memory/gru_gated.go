// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// gateThreshold is the probability from which the detector of a gated GRU counts another agent as seen; that of the graph memory.
const gateThreshold = 0.5

// gates is what a GRU with gru_gated knows beside its hidden state: whose state moved where, and where there was one before.
//
// Reading: the paper gates its graph alone. For the GRU the same rule is n → n+1 at the first step of an episode and wherever the
// detector sees anyone; between, the hidden state stays. Its detector reads the memory's embedding and always learns online.
type gates struct {
	agents int     // P, those whom an observer can see, itself among them
	met    []uint8 // [E·N] 1 where the state in force has one before it in the episode
	open   []uint8 // [T,E,N] 1 where the state moved, of the rollout last watched
	exists []uint8 // [T,E,N] met after each step
}

// inputs are what Gather feeds for the gates, for C chunks of L steps, time-major.
func (g *gates) inputs(l, c int) []nn.Input {
	return []nn.Input{nn.F32("seen", l, c, 1), nn.F32("labels", l, c, g.agents), nn.F32("observer", l, c, g.agents)}
}

// gather feeds inputs from index first on.
func (g *gates) gather(p *nn.Program, first, l int, x *rl.Rollout, rows []int32) {
	n, chunks := g.agents, len(rows)/l
	p.Feed(first, func(dst []float32) {
		for k, row := range rows {
			dst[k%l*chunks+k/l] = float32(g.open[row])
		}
	})
	p.Feed(first+1, func(dst []float32) {
		for k, row := range rows {
			for j, y := range x.Visible[int(row)*n : (int(row)+1)*n] {
				dst[(k%l*chunks+k/l)*n+j] = float32(y)
			}
		}
	})
	p.Feed(first+2, func(dst []float32) {
		clear(dst)
		for k, row := range rows {
			dst[(k%l*chunks+k/l)*n+int(row)%x.N] = 1
		}
	})
}

// note decides at every agent of step t whether its state moves, from the detector's probabilities [E·N,P]; visit hears of it.
func (g *gates) note(x *rl.Rollout, t int, known []uint8, probability []float32, visit func(agent int, moved bool)) {
	rows := x.E * x.N
	for a := range rows {
		row := t*rows + a
		first := x.IsFirst[row/x.N] != 0 || t == 0 && known[a] == 0
		moved := first
		for j, p := range probability[a*g.agents : (a+1)*g.agents] {
			moved = moved || x.Alive[row] != 0 && j != a%x.N && p >= gateThreshold
		}
		visit(a, moved)
		g.open[row] = 0
		if moved {
			g.open[row], g.met[a] = 1, 1
		}
		if first {
			g.met[a] = 0
		}
		g.exists[row] = g.met[a]
	}
}

// resize prepares for a rollout.
func (g *gates) resize(rows int) {
	if len(g.open) != rows {
		g.open, g.exists = make([]uint8, rows), make([]uint8, rows)
	}
}

// gatedContext is Context with gru_gated; f_{n-1} of a chunk's first steps comes from the stored state behind the hidden ones.
func (m *gru) gatedContext(sc *model.Scope, in []*Node) (out Context) {
	obs, keep, hidden, open, labels, observer := in[0], in[1], in[2], in[4], in[5], in[6]
	l, c := obs.Shape().Dimensions[0], obs.Shape().Dimensions[1]
	e := nn.Encode(sc.At("encoder"), m.build.Spec, Reshape(obs, l*c, m.obs), m.Embed, true)
	rows := func(x *Node) *Node { return Reshape(Transpose(Reshape(x, l, c, -1), 0, 1), l*c, -1) }
	out.detect(detect(sc.At("detector"), rows(e), m.gates.agents), rows(labels), rows(observer), gateThreshold, 1)

	either := func(t int, moved, still *Node) *Node {
		return Add(Mul(at(open, t), moved), Mul(OneMinus(at(open, t)), still))
	}
	x, states := e, make([]*Node, l)
	var first *Node
	for i := range m.Layers {
		cell := nn.NewGRU(sc.At("gru_%d", i), x, m.Width)
		drive := Reshape(cell.Drive(x), l, c, 3*m.Width)
		first = m.part(hidden, i)
		h := first
		for t := range states {
			h = either(t, cell.Step(at(drive, t), Mul(h, at(keep, t))), h)
			states[t] = h
		}
		x = Reshape(Stack(states, 0), l*c, m.Width)
	}
	before, last, held := make([]*Node, l), first, m.part(hidden, m.Layers)
	for t, h := range states {
		held = either(t, last, held)
		before[t], last = held, h
	}
	out.Now, out.Before, out.Exists = rows(nn.Normalize(x)), rows(nn.Normalize(Stack(before, 0))), in[3]
	return out
}

// part is layer i of stored states [C,·]: [C,F].
func (m *gru) part(hidden *Node, i int) *Node {
	return Slice(hidden, AxisRange(), AxisRange(i*m.Width, (i+1)*m.Width))
}

// walkGated is one step of Watch with gru_gated: step has run.
func (m *gru) walkGated(x *rl.Rollout, t int) {
	h, width := m.stateLen(), m.Width
	m.step.Read(0, m.moved)
	m.step.Read(1, m.probability)
	m.gates.note(x, t, m.known, m.probability, func(a int, moved bool) {
		if !moved {
			return
		}
		state, layers := m.hidden[a*h:(a+1)*h], m.Layers*width
		copy(state[layers:], state[layers-width:layers])
		copy(state, m.moved[a*layers:(a+1)*layers])
	})
}

// needLabels returns an error if x has nothing for the detector to learn from.
func needLabels(x *rl.Rollout) error {
	if x.Visible == nil {
		return fmt.Errorf("memory gru: gru_gated is true but the rollout holds no labels")
	}
	return nil
}
