// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/conf"
)

// Bytes estimates from below how much memory training e takes: the rollout batch and the replay buffer of each group, and
// the gradient steps. Nothing is compiled for it.
func (e Config) Bytes() (float64, error) {
	spec, err := e.spec()
	if err != nil {
		return 0, err
	}
	sum := gradientBytes(e.Learner, e.Policy) + gradientBytes(e.Explore)
	for _, view := range envs.Views(spec) {
		sum += rl.RolloutBytes(view.Spec, e.Learner.CollectFrames())
		if q, ok := e.Learner.(learn.Q); ok {
			sum += rl.ReplayBytes(view.Spec, q.Replay)
		}
	}
	return sum, nil
}

// gradientBytes estimates the memory of a gradient step of configs: an activation per row and unit of a layer, and four
// numbers per weight between listed layers (weight, gradient and Adam's moments). Tags size name rows and widths.
func gradientBytes(parts ...conf.Kinder) float64 {
	const float = 4 // bytes of a float32
	rows, units, weights := 0.0, 0.0, 0.0
	for _, part := range parts {
		for _, k := range conf.Keys(part) {
			var sizes []float64
			if k.Size == "" || json.Unmarshal([]byte("["+strings.Trim(k.Value, "[]")+"]"), &sizes) != nil {
				continue
			}
			for i, size := range sizes {
				switch {
				case k.Size == "rows":
					rows = max(rows, size)
				case i > 0:
					weights += sizes[i-1] * size
					fallthrough
				default:
					units += size
				}
			}
		}
	}
	return float * (rows*units + 4*weights)
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
			"make networks, minibatches or buffers smaller, train fewer at a time, or add -force", n, sum/rl.GB, available/rl.GB)
	}
	return nil
}
