// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"errors"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Reading: in the appendix the memory informs an agent's actions. But no arrow of the paper's figure leads from f_n to
// the actor, and the method section does not mention it. So by default the policy is the learner's own, and acting
// needs no memory. With actor_uses_context the actor reads [o_t, sg(f_n)] (D15).
//
// The rollout stores the actor's context with each step, like its observation. f_n comes from the weights of that
// rollout batch, and no gradient of the actor passes into the memory. Execution then needs the memory, but nothing from
// other agents. The cost is a forward pass of the memory per agent step, also in evaluation, and F more inputs of the
// actor.

// actorContext computes f_n of the running episodes for actors, one step at a time. It shares weights with the memory
// that the module trains but has its own recurrent state: training sees a rollout batch only after acting.
type actorContext struct {
	mem     memory.Memory
	now     *rl.Rollout // the current step, as the task shows it
	view    rl.Rollout  // buffers of read
	rows    []int32     // [E·N] all agent steps of now
	program *nn.Program // f_n of rows
	new     []byte      // initial state
}

var (
	_ explore.Requirer        = Config{}
	_ explore.ContextProvider = (*module)(nil)
)

// Requires returns the detector's labels and, with actor_uses_context, the width of f_n.
func (c Config) Requires(b *nn.Build) (needs explore.Requirements, err error) {
	if err := c.Validate(); err != nil {
		return needs, err
	}
	needs.Labels = c.spec(b.Spec) != b.Spec
	if !c.Exploit {
		return needs, nil
	}
	mem, err := c.Memory.Build(c.reads(b))
	if err != nil {
		return needs, err
	}
	needs.Labels = needs.Labels || mem.Shape().Labels
	if c.ActorContext {
		needs.Context = mem.Shape().Width
	}
	return needs, nil
}

// newActorContext compiles the graph of one step. The variables must already exist.
func (c Config) newActorContext(b *nn.Build, task *envs.Spec) (*actorContext, error) {
	mem, err := memory.OneStep(c.Memory).Build(b)
	if err != nil {
		return nil, err
	}
	rows := b.Spec.NumEnvs * b.Spec.Agents
	if mem.Shape().Chunk != 1 {
		return nil, errors.New("cermic: actor_uses_context needs a memory that runs single steps: change explore.memory")
	}
	t := &actorContext{mem: mem, now: rl.NewRollout(task, 1, 0), rows: make([]int32, rows)}
	t.now.KeepLabels() // a detector in training takes labels as an input, although this graph computes no loss
	for row := range t.rows {
		t.rows[row] = int32(row)
	}
	context := func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{mem.Context(sc.At(scope).At("memory"), in).Now}
	}
	t.program, err = nn.NewProgram(b, "cermic.context", mem.Inputs(rows), context)
	t.new = saveMemory(t.mem)
	return t, err
}

// ContextFor writes f_n of every agent into dst [E,N,F].
func (m *module) ContextFor(in *rl.Obs, isFirst []uint8, dst []float32) error {
	t := m.context
	copy(t.now.Obs, in.Obs)
	copy(t.now.Cells, in.Cells)
	copy(t.now.Alive, in.Alive)
	copy(t.now.IsFirst, isFirst)
	copy(t.now.Visible, in.Visible)
	copy(t.now.RelPos, in.RelPos)
	x, err := m.read(t.now, &t.view)
	if err != nil {
		return err
	}
	if w, ok := t.mem.(memory.Watcher); ok {
		if err := w.Watch(x); err != nil {
			return err
		}
	}
	t.mem.Gather(t.program, 0, x, t.rows)
	if err := t.program.Run(); err != nil {
		return err
	}
	t.program.Read(0, dst)
	return nil
}

// WithFreshState runs f with the initial state and then restores the current one.
func (m *module) WithFreshState(f func() error) error {
	mem := m.context.mem
	past := saveMemory(mem)
	if err := loadMemory(mem, m.context.new); err != nil {
		return err
	}
	return errors.Join(f(), loadMemory(mem, past))
}
