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

// Reading: the appendix has the memory inform an agent's actions, but no arrow of the paper's figure leads from f_n to the actor,
// and the method's text has none either. So by default the policy is the learner's own, and acting needs no memory; with
// actor_uses_context it reads [o_t, sg(f_n)] (D15).
//
// The context of an actor is kept with the step that it acted in, as its observation is: f_n comes from the weights of that
// rollout batch, and no gradient of the actor passes into the memory. Execution then needs the memory, and nothing of other agents.
// It costs a pass of the memory for every agent step, also in evaluation, and as many more inputs of the actor as f_n has numbers.

// actorContext is the intention model as actors read it: f_n of the running episodes, one step at a time. It shares its weights with the
// memory that the module trains, and has a past of its own, since that one sees a rollout batch as a whole and only after it.
type actorContext struct {
	mem     memory.Memory
	now     *rl.Rollout // of a single step, which the agents see now, as the task shows it
	view    rl.Rollout  // memory of what the module reads of it
	rows    []int32     // [E·N] all of its agent steps
	program *nn.Program // f_n of rows
	new     []byte      // past of one that has seen nothing
}

var (
	_ explore.Requirer        = Config{}
	_ explore.ContextProvider = (*module)(nil)
)

// Requires are the labels that a detector learns from, and f_n with actor_uses_context.
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

// newActorContext compiles the graph of one step. The variables must exist already.
func (c Config) newActorContext(b *nn.Build, task *envs.Spec) (*actorContext, error) {
	mem, err := memory.OneStep(c.Memory).Build(b)
	if err != nil {
		return nil, err
	}
	rows := b.Spec.NumEnvs * b.Spec.Agents
	if mem.Shape().Chunk != 1 {
		return nil, errors.New("cermic: actor_uses_context needs a memory that can go on by single steps, and this one cannot")
	}
	t := &actorContext{mem: mem, now: rl.NewRollout(task, 1, 0), rows: make([]int32, rows)}
	t.now.KeepLabels() // a detector that learns wants some, for a loss that is not computed here
	for row := range t.rows {
		t.rows[row] = int32(row)
	}
	t.program, err = nn.NewProgram(b, "cermic.context", mem.Inputs(rows), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{mem.Context(sc.At(scope).At("memory"), in).Now}
	})
	t.new = t.save()
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

// WithFreshState calls f with an empty past and then goes on with this one.
func (m *module) WithFreshState(f func() error) error {
	past := m.context.save()
	if err := m.context.load(m.context.new); err != nil {
		return err
	}
	return errors.Join(f(), m.context.load(past))
}

// save returns the past of the running episodes, nil if the memory has none.
func (t *actorContext) save() []byte {
	if s, ok := t.mem.(rl.Saver); ok {
		return s.Save()
	}
	return nil
}

// load continues from what save returned.
func (t *actorContext) load(past []byte) error {
	if s, ok := t.mem.(rl.Saver); ok {
		return s.Load(past)
	}
	return nil
}
