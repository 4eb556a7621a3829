// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
)

// Episode plays the first episode of an evaluation that is not aborted, with the last saved weights of e's run. It
// returns the scenes, one a step and the reset first, and the score. The run may be partial; it is not changed.
func Episode(ctx context.Context, e Config, st *results.Store) ([]envs.Scene, *results.Eval, error) {
	t, err := restored(e, e.withCopies(1), st)
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	return t.filmed(ctx, nil)
}

// Untrained is Episode with e's initial weights.
func Untrained(ctx context.Context, e Config) ([]envs.Scene, *results.Eval, error) {
	backend, err := nn.Open()
	if err != nil {
		return nil, nil, err
	}
	t, err := newTrainer(e.withCopies(1), backend, "")
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	return t.filmed(ctx, nil)
}

// filmed plays an episode of the only environment. watch sees it as well and may be nil.
func (t *trainer) filmed(ctx context.Context, watch watcher) ([]envs.Scene, *results.Eval, error) {
	if _, ok := t.env.(envs.Scener); !ok {
		return nil, nil, fmt.Errorf("%s cannot be drawn", t.exp.Task.Kind())
	}
	t.exp.Budget.EvalEpisodes = 1
	var scenes []envs.Scene
	eval, err := t.evaluate(ctx, func(k int, env envs.Env, step *envs.Step, seats []seat) {
		if k == 0 { // again, if the first episode was aborted
			scenes = nil
		}
		scenes = append(scenes, env.(envs.Scener).Scene(0))
		if watch != nil {
			watch(k, env, step, seats)
		}
	})
	return scenes, eval, err
}

// Evaluate plays the evaluation of the experiment as with the last saved weights of e's run: its own evaluation, with
// more episodes, sampled actions or another score of the task. The run may be partial; it is not changed.
func Evaluate(ctx context.Context, e, as Config, st *results.Store) (*results.Eval, error) {
	t, err := restored(e, as, st)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return t.evaluate(ctx, nil)
}
