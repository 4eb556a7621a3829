// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"slices"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Bytes estimates from below what training e takes: the buffers of each group's rollout batch and replay, and the weights and results
// of one gradient step. Nothing is compiled for it.
func (e Config) Bytes() (float64, error) {
	spec, err := e.spec()
	if err != nil {
		return 0, err
	}
	frames, sum := e.Learner.CollectFrames(), 0.0
	for _, view := range envs.Views(spec) {
		s := view.Spec
		sum += rl.RolloutBytes(s, frames)
		if c, ok := e.Learner.(learn.Sized); ok {
			sum += c.Bytes(s, e.Policy)
		}
		if c, ok := e.Explore.(explore.Sized); ok {
			sum += c.Bytes(s, frames)
		}
	}
	return sum, nil
}

// spec describes e's task. It is built with one environment, since those that e asks for may be more than there is room for.
func (e Config) spec() (*envs.Spec, error) {
	shared := e.Task.Shared()
	copies := shared.NumEnvs
	shared.NumEnvs = 1
	env, err := e.Task.WithShared(shared).Build(e.Seed, 1)
	if err != nil {
		return nil, err
	}
	if env == nil {
		return nil, fmt.Errorf("task %s: Build returned nil and no error", e.Task.Kind())
	}
	defer envs.Close(env)
	s := *env.Spec()
	s.NumEnvs = copies
	return &s, nil
}

// regardless marks a context in which memory is not asked after.
type regardless struct{}

// Force returns a context in which experiments are trained that seem to need more memory than there is.
func Force(ctx context.Context) context.Context { return context.WithValue(ctx, regardless{}, true) }

func forced(ctx context.Context) bool { return ctx.Value(regardless{}) != nil }

// Fits returns one sentence if so many of es, trained at the same time, need more memory than there is.
func Fits(ctx context.Context, es []Config, workers int) error {
	there := float64(rl.Memory())
	if there == 0 || forced(ctx) {
		return nil
	}
	var all []float64
	for _, e := range es {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.Task == nil || e.Learner == nil || e.Policy == nil || e.Explore == nil {
			continue // what is wrong with it, training says
		}
		size, err := e.Bytes()
		if err != nil {
			continue
		}
		if size > there {
			return fmt.Errorf("%s of %s needs at least %.3g GB of memory, more than the %.3g GB there are: make networks, minibatches or buffers smaller, or add -force",
				e.Label(), e.Task.Kind(), size/rl.GB, there/rl.GB)
		}
		all = append(all, size)
	}
	slices.SortFunc(all, func(a, b float64) int { return int(max(-1, min(1, b-a))) })
	sum := 0.0
	for _, size := range all[:min(workers, len(all))] {
		sum += size
	}
	if sum > there {
		return fmt.Errorf("%d runs at the same time need at least %.3g GB of memory, more than the %.3g GB there are: train fewer at a time, or add -force",
			min(workers, len(all)), sum/rl.GB, there/rl.GB)
	}
	return nil
}
