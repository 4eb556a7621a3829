// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
)

// inspectRows is the number of agent steps that one call of the inspecting graph takes.
const inspectRows = 32

// Inspect reads the detector, the queue and the attention of the last graph layer.
func (m *graphMemory) Inspect(x *rl.Rollout) ([]results.Graph, error) {
	m.queue = newQueue(len(m.queue.lanes), m.obs, m.Queue+2)
	if err := m.Watch(x); err != nil {
		return nil, err
	}
	out := make([]results.Graph, x.Rows())
	err := m.detected(x, func(row int, probability []float32) {
		p := make([]float64, m.agents)
		for j, v := range probability {
			if j != row%x.N {
				p[j] = float64(v)
			}
		}
		out[row] = results.Graph{Probability: p, Present: m.present(row), Advanced: m.seen[row] != 0}
	})
	if err != nil {
		return nil, err
	}
	return out, m.attend(x, func(row int, weights []float64) { out[row].Attention = weights })
}

// present are the nodes of the graph in force at an agent step.
func (m *graphMemory) present(row int) []bool {
	out := make([]bool, m.agents)
	out[row%m.build.Spec.Agents] = true
	m.queue.behind(row%len(m.queue.lanes), int(m.queue.number[row]), m.Queue+1, func(_ int, at moment) {
		for j := range out {
			out[j] = out[j] || at.seen>>j&1 != 0
		}
	})
	return out
}

// attend calls visit with the attention of the last layer, mean over heads, at every agent step.
func (m *graphMemory) attend(x *rl.Rollout, visit func(row int, weights []float64)) error {
	var last *Node // [heads,1,N,G·C]
	m.peek = func(weights *Node) { last = weights }
	defer func() { m.peek = nil }()
	p, err := nn.NewProgram(m.build, "memory.inspect", m.Inputs(inspectRows*m.Chunk), func(sc *model.Scope, in []*Node) []*Node {
		m.Context(sc.Store().Scope(m.scope), in)
		return []*Node{ReduceMean(last, 0, 1)} // [N,G·C]
	})
	if err != nil {
		return err
	}
	// A chunk is one agent step, repeated: its graph is the one behind the first.
	graphs := m.Chunk + 1
	weights, rows := make([]float32, m.agents*graphs*inspectRows), make([]int32, inspectRows*m.Chunk)
	return p.Blocks(context.Background(), x.Rows(), inspectRows, func(from, _ int) {
		for k := range rows {
			rows[k] = int32(min(from+k/m.Chunk, x.Rows()-1))
		}
		m.Gather(p, 0, x, rows)
	}, func(from, to int) {
		p.Read(0, weights)
		for c := range to - from {
			w := make([]float64, m.agents)
			for j := range w {
				w[j] = float64(weights[(j*graphs+1)*inspectRows+c])
			}
			visit(from+c, w)
		}
	})
}
