// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// allRows are the numbers from 0 to n-1.
func allRows(n int) []int32 {
	rows := make([]int32, n)
	for row := range rows {
		rows[row] = int32(row)
	}
	return rows
}

// Reading: the appendix has the memory inform an agent's actions. But no arrow of the paper's figure leads from f_n to
// the actor, and the method section does not mention one. By default the policy is the learner's own, and acting needs
// no memory. With actor_uses_context it reads [o_t, sg(f_n)] (D15).
//
// f_n comes from the weights of the rollout batch and is stored with the agent step, so no gradient of the actor
// reaches the memory. Execution then needs the agent's own memory. It costs a pass of the memory at each step, also in
// evaluation.

// actorContext computes f_n of the running episodes, one step at a time. It shares the weights of the memory that the
// module trains and carries a state of its own.
type actorContext struct {
	mem     memory.Memory
	now     *rl.Rollout // the present step, as the task shows it
	view    rl.Rollout  // buffers of read
	rows    []int32     // [E·N] all agent steps of now
	program *nn.Program // f_n of rows
}

var (
	_ explore.Requirer        = Config{}
	_ explore.ContextProvider = (*module)(nil)
)

// Requires says whether rollouts need labels, for the channels of peers or a detector that learns, and how long the
// context of actors is.
func (c Config) Requires(b *nn.Build) (needs explore.Requirements, err error) {
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

// newActorContext compiles the graph of one step.
func (c Config) newActorContext(b *nn.Build, task *envs.Spec) (*actorContext, error) {
	mem, err := memory.OneStep(c.Memory, b)
	if err != nil {
		return nil, err
	}
	t := &actorContext{mem: mem, now: rl.NewRollout(task, 1, 0), rows: allRows(b.Spec.NumEnvs * b.Spec.Agents)}
	t.now.KeepLabels() // inputs of a detector's loss, which is not computed here
	inputs := t.mem.Inputs(len(t.rows))
	t.program, err = nn.NewProgram(b, "cermic.context", inputs, func(sc *model.Scope, in []*Node) []*Node {
		return []*Node{mem.Context(sc.At(scope).At("memory"), in).Now}
	})
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
	if err := memory.Watch(t.mem, x); err != nil {
		return err
	}
	t.mem.Gather(t.program, 0, x, t.rows)
	if err := t.program.Run(); err != nil {
		return err
	}
	t.program.Read(0, dst)
	return nil
}

// Aside calls f, which plays other episodes from their start, and then restores the state of the running episodes.
func (m *module) Aside(f func() error) error {
	state := memory.Save(m.context.mem)
	return errors.Join(f(), memory.Load(m.context.mem, state))
}
