// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// contexts reads the intention model outside of training, with chunks of single steps. It shares the weights of the
// memory that the module trains and carries a state of its own.
type contexts struct {
	mem    memory.Memory
	window *memory.Window
}

// newContexts builds the memory of c for single steps.
func (c Config) newContexts(b *nn.Build) (*contexts, error) {
	mem, err := memory.OneStep(c.Memory, b)
	if err != nil {
		return nil, err
	}
	return &contexts{mem: mem, window: memory.NewWindow(mem)}, nil
}

// feature returns f_n [B,F] for the memory's inputs; sc is the module's scope.
func (t *contexts) feature(sc *model.Scope, in []*Node) *Node {
	return t.mem.Context(sc.At("memory"), in).Now
}

// weighted returns γ·f_n [B,F] for rows [B,W] of the window. γ is the running mean of γ_lo, the sound lower bound.
func (t *contexts) weighted(sc *model.Scope, rows *Node) *Node {
	gamma := nn.Frozen(sc.At("critic"), rows, "gamma_lo", nn.AllZero).NodeValue(rows)
	return Mul(t.feature(sc, t.window.Inputs(rows)), gamma)
}

// watch takes in x, the rollout after the last one.
func (t *contexts) watch(x *rl.Rollout) error {
	if w, ok := t.mem.(memory.Watcher); ok {
		return w.Watch(x)
	}
	return nil
}

// gather fills the window with all agent steps of x, which was watched.
func (t *contexts) gather(x *rl.Rollout) {
	rows := make([]int32, x.Rows())
	for row := range rows {
		rows[row] = int32(row)
	}
	t.window.Gather(x, rows)
}

// save returns the state of the running episodes; nil for a memory without a state.
func (t *contexts) save() []byte {
	if s, ok := t.mem.(rl.Saver); ok {
		return s.Save()
	}
	return nil
}

// load continues from what save returned.
func (t *contexts) load(state []byte) error {
	if s, ok := t.mem.(rl.Saver); ok {
		return s.Load(state)
	}
	return nil
}
