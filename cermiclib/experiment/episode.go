// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
)

// Episode plays the first episode of an evaluation that is not aborted with the weights that e's run was last saved with, and returns its
// scenes, one a step and the reset first, and its score. The run may be partial; it is not changed.
func Episode(ctx context.Context, e Config, st *results.Store) ([]envs.Scene, *results.Eval, error) {
	backend, err := nn.Open()
	if err != nil {
		return nil, nil, err
	}
	t, err := restored(e, backend, st)
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	return t.filmed(ctx)
}

// Untrained is Episode with the weights that e's training begins with.
func Untrained(ctx context.Context, e Config) ([]envs.Scene, *results.Eval, error) {
	backend, err := nn.Open()
	if err != nil {
		return nil, nil, err
	}
	shared := e.Task.Shared()
	shared.NumEnvs = 1 // enough, and no weight depends on their number
	e.Task = e.Task.WithShared(shared)
	t, err := newTrainer(e, backend, "")
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	return t.filmed(ctx)
}

// filmed plays an episode with the weights as they are.
func (t *trainer) filmed(ctx context.Context) ([]envs.Scene, *results.Eval, error) {
	if _, ok := t.env.(envs.Scener); !ok {
		return nil, nil, fmt.Errorf("%s cannot be drawn", t.exp.Task.Kind())
	}
	t.exp.Budget.EvalEpisodes = 1
	var scenes []envs.Scene
	over := false
	eval, err := t.evaluate(ctx, func(k int, env envs.Env, s *envs.Step) {
		if k == 0 { // again, where the first was aborted
			scenes, over = nil, false
		}
		if !over {
			scenes = append(scenes, env.(envs.Scener).Scene(0))
		}
		over = over || s.Terminated[0]|s.Truncated[0] != 0
	})
	return scenes, eval, err
}

// Evaluate plays an evaluation as an experiment says, with the weights that e's run was last saved with: its own evaluation, with more
// episodes, sampled actions or another score of the task. The run may be partial; it is not changed.
func Evaluate(ctx context.Context, e, as Config, st *results.Store) (*results.Eval, error) {
	backend, err := nn.Open()
	if err != nil {
		return nil, err
	}
	t, err := restoredAs(e, as, backend, st)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return t.evaluate(ctx, nil)
}
