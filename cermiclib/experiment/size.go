// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"slices"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Bytes is a lower bound of the memory that training e takes: the rollout batch and the replay buffer of each group.
func (e Config) Bytes() (float64, error) {
	spec, err := e.spec()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, view := range envs.Views(spec) {
		sum += rl.RolloutBytes(view.Spec, e.Learner.CollectFrames())
		if q, ok := e.Learner.(learn.Q); ok {
			sum += rl.ReplayBytes(view.Spec, q.Replay)
		}
	}
	return sum, nil
}

// spec describes e's task. It is built with one environment, since those that e asks for may be more than there is
// room for.
func (e Config) spec() (*envs.Spec, error) {
	env, err := e.withCopies(1).Task.Build(e.Seed, 1)
	if err != nil {
		return nil, err
	}
	if env == nil {
		return nil, fmt.Errorf("task %s: Build returned nil and no error", e.Task.Kind())
	}
	defer envs.Close(env)
	s := *env.Spec()
	s.NumEnvs = e.Task.Shared().NumEnvs
	return &s, nil
}

// withCopies is e with n parallel environments, whose number no weight depends on.
func (e Config) withCopies(n int) Config {
	shared := e.Task.Shared()
	shared.NumEnvs = n
	e.Task = e.Task.WithShared(shared)
	return e
}

// force marks a context without the memory check.
type force struct{}

// Force returns a context in which experiments are trained that seem to need more memory than there is.
func Force(ctx context.Context) context.Context { return context.WithValue(ctx, force{}, true) }

// Fits returns one sentence if training so many of es at a time needs more memory than there is.
func Fits(ctx context.Context, es []Config, workers int) error {
	available := float64(rl.Memory())
	if available == 0 || ctx.Value(force{}) != nil {
		return nil
	}
	var sizes []float64
	for _, e := range es {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.Task == nil || e.Learner == nil || e.Policy == nil || e.Explore == nil {
			continue // Validate reports it
		}
		if size, err := e.Bytes(); err == nil {
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	sum, n := 0.0, min(workers, len(sizes))
	for _, size := range sizes[len(sizes)-n:] {
		sum += size
	}
	if sum > available {
		return fmt.Errorf("training %d at a time needs at least %.3g GB of memory, more than the %.3g GB there are: "+
			"make rollout batches or replay buffers smaller, train fewer at a time, or add -force", n, sum/rl.GB, available/rl.GB)
	}
	return nil
}
