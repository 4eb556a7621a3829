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
)

// Reading: the appendix has the memory inform an agent's actions, but no arrow of the paper's figure leads from f_n to the actor,
// and the method's text has none either. So by default the policy is the learner's own, and acting needs no memory; with
// actor_uses_context it reads [o_t, sg(f_n)] (D15).
//
// What an actor was told is kept with the step that it acted in, as its observation is: f_n comes from the weights of that
// collection, and no gradient of the actor passes into the memory. Execution then needs the memory, and nothing of other agents.
// It costs a pass of the memory for every agent step, also in evaluation, and as many more inputs of the actor as f_n has numbers.

// teller is the intention model as actors read it: f_n of the running episodes, one step at a time. It shares its weights with the
// memory that the module trains, and has a past of its own, since that one sees a collection as a whole and only after it.
type teller struct {
	mem  memory.Memory
	now  *rl.Rollout // of a single step, which the agents see now
	rows []int32     // [E·N] all of its agent steps
	tell *nn.Program // f_n of rows
	new  []byte      // past of a teller that has seen nothing
}

var (
	_ explore.Informed = Config{}
	_ explore.Informer = (*module)(nil)
)

// ContextLen is the length of f_n with actor_uses_context, else 0.
func (c Config) ContextLen(b *nn.Build) (int, error) {
	if !c.ActorContext {
		return 0, nil
	}
	if err := c.Validate(); err != nil {
		return 0, err
	}
	mem, err := c.Memory.Build(b)
	if err != nil {
		return 0, err
	}
	return mem.Shape().Width, nil
}

// newTeller compiles the graph of one step. The variables must exist already.
func (c Config) newTeller(b *nn.Build) (*teller, error) {
	mem, err := memory.OneStep(c.Memory).Build(b)
	if err != nil {
		return nil, err
	}
	rows := b.Spec.Copies * b.Spec.Agents
	if mem.Shape().Chunk != 1 {
		return nil, errors.New("cermic: actor_uses_context needs a memory that can go on by single steps, and this one cannot")
	}
	t := &teller{mem: mem, now: rl.NewRollout(b.Spec, 1, 0), rows: make([]int32, rows)}
	t.now.KeepLabels() // a detector that learns wants some, for a loss that is not computed here
	for row := range t.rows {
		t.rows[row] = int32(row)
	}
	t.tell, err = nn.NewProgram(b, "cermic.context", mem.Inputs(rows), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{mem.Context(sc.At(scope).At("memory"), in).Now}
	})
	t.new = t.save()
	return t, err
}

// Inform writes f_n of every agent into dst [E,N,F].
func (m *module) Inform(in *rl.Obs, started []uint8, dst []float32) error {
	t := m.told
	copy(t.now.Obs, in.Obs)
	copy(t.now.Cells, in.Cells)
	copy(t.now.Alive, in.Alive)
	copy(t.now.Started, started)
	if w, ok := t.mem.(memory.Watcher); ok {
		if err := w.Watch(t.now); err != nil {
			return err
		}
	}
	t.mem.Gather(t.tell, 0, t.now, t.rows)
	if err := t.tell.Run(); err != nil {
		return err
	}
	t.tell.Read(0, dst)
	return nil
}

// Aside calls f with an empty past and then goes on with this one.
func (m *module) Aside(f func() error) error {
	past := m.told.save()
	if err := m.told.load(m.told.new); err != nil {
		return err
	}
	return errors.Join(f(), m.told.load(past))
}

// save returns the past of the running episodes, nil if the memory has none.
func (t *teller) save() []byte {
	if s, ok := t.mem.(rl.Saver); ok {
		return s.Save()
	}
	return nil
}

// load continues from what save returned.
func (t *teller) load(past []byte) error {
	if s, ok := t.mem.(rl.Saver); ok {
		return s.Load(past)
	}
	return nil
}
