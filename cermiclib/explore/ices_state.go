// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// What the world models of ICES predict is the state of the task. Where agents see cells, that state leaves out
// nearly everything; there it is what all agents see, as the features of a random convolutional network, S = N·F.
//
// Reading: features of the policy's own eyes would change with them, and so would their meaning for the world models.

// readsState reports whether the state is the task's own.
func (m *ices) readsState() bool { return m.build.Spec.CellLen() == 0 }

// stateLen is S.
func (m *ices) stateLen() int {
	if m.readsState() {
		return m.build.Spec.State
	}
	return m.build.Spec.Agents * nn.ObsFeatures(m.build.Spec)
}

// stateOf is the state [B,S], given the task's own or, of cells, obs [B,N,I].
func (m *ices) stateOf(sc *model.Scope, state, obs *Node) *Node {
	if m.readsState() {
		return state
	}
	return Reshape(frozenObs(sc.At("eyes"), m.build.Spec, obs), -1, m.stateLen())
}

// change is the standardised change of state [B,S].
func (m *ices) change(sc *model.Scope, in map[string]*Node) *Node {
	if m.readsState() {
		return in["delta"]
	}
	moved := Sub(m.stateOf(sc, nil, in["next"]), m.stateOf(sc, nil, in["obs"]))
	centred := Sub(moved, ExpandLeftToRank(in["mean"], 2))
	return nn.Within(Mul(centred, ExpandLeftToRank(in["scale"], 2)), "ices/delta_clip", -m.DeltaClip, m.DeltaClip)
}

// measure takes the changes of state in x in.
func (m *ices) measure(ctx context.Context, x *rl.Rollout) error {
	if err := m.encoder.watch(ctx, x); err != nil {
		return err
	}
	s := m.stateLen()
	for frame := range x.T * x.E {
		var now, next []float32
		switch {
		case m.readsState():
			now, next = x.State[frame*s:(frame+1)*s], x.NextState(frame)
		case x.Done(frame/x.E, frame%x.E):
			continue // what it led to was not looked at
		default:
			now, next = m.encoder.seen[frame*s:(frame+1)*s], m.encoder.seen[(frame+x.E)*s:(frame+x.E+1)*s]
		}
		for i := range m.delta {
			m.delta[i].Add(float64(next[i]) - float64(now[i]))
		}
	}
	return nil
}

// feedState writes the states of the frames of m.slots and how they change, or what both are made of.
func (m *ices) feedState() {
	p := m.replay
	if m.readsState() {
		m.feedRows("state", func(dst []float32, slot int32) { copy(dst, p.State(slot)) })
		m.feedRows("delta", func(dst []float32, slot int32) { m.standardised(dst, p.State(slot), p.NextState(slot)) })
		return
	}
	m.feedRows("next", func(dst []float32, slot int32) { p.GatherNext(dst, slot) })
	m.step.Feed(m.step.Input("mean"), func(dst []float32) {
		for i, d := range m.delta {
			dst[i] = float32(d.Mean)
		}
	})
	m.step.Feed(m.step.Input("scale"), func(dst []float32) {
		for i, d := range m.delta {
			dst[i] = float32(1 / (d.Std() + stillTiny))
		}
	})
}

// stillTiny bounds the scale of features that hardly ever change: within rounding of a float32 there is no change to
// predict.
const stillTiny = 1e-4

// standardised writes the change of state over its running deviation, clipped; what never changes stays 0.
func (m *ices) standardised(dst, state, next []float32) {
	for i, d := range m.delta {
		v := (float64(next[i]) - float64(state[i]) - d.Mean) / (d.Std() + statTiny)
		dst[i] = float32(min(max(v, -m.DeltaClip), m.DeltaClip))
	}
}
