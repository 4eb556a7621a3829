// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// inspector is an explorer that can be looked into.
type inspector interface {
	Inspect(ctx context.Context, x *rl.Rollout, into *results.Inside) error
}

// Inside plays the first episode of an evaluation, as Episode does, with the weights that e's run was last saved with, and
// returns what its explorer makes of every step. The run may be partial; it is not changed.
func Inside(ctx context.Context, e Experiment, st *results.Store) (*results.Inside, error) {
	return Through(ctx, e, e, st)
}

// Through is Inside for any run on a task: e plays, and the explorer of another run looks at what e sees. Episodes of runs
// with one seed and as many frames begin alike.
func Through(ctx context.Context, e, lens Experiment, st *results.Store) (*results.Inside, error) {
	backend, err := nn.Open()
	if err != nil {
		return nil, err
	}
	player, err := restored(e, backend, st)
	if err != nil {
		return nil, err
	}
	defer player.close()
	viewer, err := restored(lens, backend, st)
	if err != nil {
		return nil, err
	}
	defer viewer.close()
	module, ok := viewer.module.(inspector)
	if !ok {
		return nil, fmt.Errorf("%s has no curiosity to look into: choose a run with CERMIC", lens.Label())
	}
	if a, b := player.spec, viewer.spec; a.Name != b.Name || a.Agents != b.Agents || a.InLen() != b.InLen() || a.Act.Len() != b.Act.Len() {
		return nil, fmt.Errorf("%s on %s sees or does something else than %s on %s: choose runs on one task", e.Label(), a.Name, lens.Label(), b.Name)
	}
	in := &results.Inside{Task: e.Task.Kind(), Method: e.Label(), Frames: player.frames, Agents: player.spec.Agents}
	x, err := player.watched(ctx, in)
	if err != nil {
		return nil, err
	}
	return in, module.Inspect(ctx, x, in)
}

// restored builds e for one copy of its task, with the weights that its run was last saved with.
func restored(e Experiment, backend nn.Backend, st *results.Store) (*trainer, error) {
	as := e
	// One copy is enough, and no weight depends on their number.
	shared := e.Task.Shared()
	shared.Copies = 1
	as.Task = e.Task.WithShared(shared)
	return restoredAs(e, as, backend, st)
}

// restoredAs makes a trainer of the experiment as with the weights that e's run was last saved with, and without a curriculum.
func restoredAs(e, as Experiment, backend nn.Backend, st *results.Store) (*trainer, error) {
	id, err := e.ID()
	if err != nil {
		return nil, err
	}
	saved, err := st.Checkpoint(id)
	if err != nil {
		return nil, fmt.Errorf("%s on %s with seed %d has no weights here (%w): train it first", e.Label(), e.Task.Kind(), e.Seed, err)
	}
	as.Curriculum = Curriculum{}
	t, err := newTrainer(as, backend, st.Dir())
	if err != nil {
		return nil, err
	}
	byName := make(map[string]results.Tensor, len(saved.Tensors))
	for _, x := range saved.Tensors {
		byName[x.Name] = x
	}
	if err := t.restoreWeights(byName); err != nil {
		t.close()
		return nil, fmt.Errorf("the checkpoint of run %s does not fit this program (%w); remove that run's folder to train it anew", id, err)
	}
	t.frames = saved.Frames
	return t, nil
}

// watched plays an episode of the only copy, as evaluations play, into a rollout of its own length, and notes scenes, labels and score.
func (t *trainer) watched(ctx context.Context, in *results.Inside) (*rl.Rollout, error) {
	env, err := t.exp.Task.Build(rng.New(t.exp.Seed, "evaluation", uint64(t.frames), 0).Uint64(), 1)
	if err != nil {
		return nil, err
	}
	scener, ok := env.(envs.Scener)
	if !ok {
		return nil, fmt.Errorf("%s cannot be drawn", t.exp.Task.Kind())
	}
	defer envs.Close(env)
	s := env.Spec()
	x := rl.NewRollout(s, s.Horizon, t.learner.CarryLen())
	x.KeepLabels()
	x.Started[0] = 1
	step, act := newBuffers(env)
	carry := make([]float32, len(t.carry))
	t.seedEvaluation(0, s.Agents)
	env.Reset(nil, step)
	if err := envs.Err(env); err != nil {
		return nil, err
	}
	for over := false; !over && in.Steps < s.Horizon; in.Steps++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in.Scenes = append(in.Scenes, scener.Scene(0))
		for _, y := range step.Seen {
			in.Seen = append(in.Seen, y != 0)
		}
		x.See(in.Steps, step)
		obs := rl.Obs{Obs: step.Obs, Cells: step.Cells, State: step.State, Mask: step.Mask, Alive: step.Alive, Carry: carry}
		if err := t.look(&obs, x.Started[in.Steps:in.Steps+1]); err != nil {
			return nil, err
		}
		t.choose(s.Agents, act)
		copy(carry, t.dist.Carry)
		copy(x.Act.Choice[in.Steps*len(act.Choice):], act.Choice)
		copy(x.Act.Force[in.Steps*len(act.Force):], act.Force)
		env.Step(act, step)
		if in.Steps < s.EvalHorizon {
			in.Score += float64(step.Score[0])
		}
		over = step.Terminated[0]|step.Truncated[0] != 0
	}
	if envs.Broken(env, 0) {
		return nil, fmt.Errorf("an episode of %s was broken off: look again", s.Name)
	}
	in.Scenes = append(in.Scenes, scener.Scene(0))
	x.See(in.Steps, step)
	x.T = in.Steps
	return x, nil
}
