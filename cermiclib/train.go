// SPDX-License-Identifier: Apache-2.0

package cermiclib

import (
	"context"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
)

// Hooks are called while a run trains; nil ones are not. They must not change their arguments.
type Hooks struct {
	// OnRollout gets every rollout batch before the learner does, one rollout per group of agents that is trained
	// together, with extrinsic rewards only. frames is the number of frames trained before it. The batch is valid
	// during the call.
	OnRollout func(frames int, batch []*rl.Rollout)

	// OnUpdate gets the scalars of every iteration after learner and explorer have taken their gradient steps.
	OnUpdate func(frames int, scalars map[string]float64)

	// OnEvaluation gets every evaluation.
	OnEvaluation func(frames int, e results.Eval)
}

// Train returns the stored record of a complete run. Otherwise it trains or resumes the run and returns its record.
// When ctx is cancelled it saves and returns the partial record with ctx's error; the same call later resumes.
func Train(ctx context.Context, run Run, hooks ...Hooks) (*results.Record, error) {
	st, err := results.Open(run.Folder)
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if h.OnRollout != nil {
			ctx = experiment.OnRollout(ctx, h.OnRollout)
		}
	}
	return experiment.Run(ctx, run.Config, st, func(e results.Event) {
		for _, h := range hooks {
			if e.Scalars != nil && h.OnUpdate != nil {
				h.OnUpdate(e.Frames, e.Scalars)
			}
			if e.Eval != nil && h.OnEvaluation != nil {
				h.OnEvaluation(e.Frames, *e.Eval)
			}
		}
	})
}

// Load returns the policy of a trained run, ready to act in the given number of parallel environments. Close it after
// use. A run without weights in its folder is an error that wraps fs.ErrNotExist.
func Load(run Run, environments int) (*experiment.Policy, error) {
	st, err := results.Open(run.Folder)
	if err != nil {
		return nil, err
	}
	return run.Trained(st, environments)
}
