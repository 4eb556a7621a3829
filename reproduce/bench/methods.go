// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"strconv"
	"strings"
	"time"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// MethodsGroup is measured only where it is asked for: it takes minutes.
const MethodsGroup = "methods"

// methodFigures are the speeds of the paper's ten methods at the short budget, on two tasks with the reward of the benchmark.
func methodFigures() (out []Figure) {
	for _, task := range []string{"vmas/navigation", "vmas/balance"} {
		name := strings.TrimPrefix(task, "vmas/")
		for _, m := range paper.Methods {
			both := new(plan.Speed)
			measured := once(func(ctx context.Context) (_ float64, err error) {
				*both, err = Iterations(ctx, m.ID, task)
				return both.FPS, err
			})
			out = append(out,
				Figure{MethodsGroup, m.ID + ", " + name, "frames/s", 0, "", false, measured},
				Figure{MethodsGroup, m.ID + ", " + name + ": processor", "s an iteration", 0, "", true, func(ctx context.Context) (float64, error) {
					_, err := measured(ctx)
					return both.Processor, err
				}})
		}
	}
	return out
}

// Iterations trains a method for three iterations of the short budget; the first compiles, and the better one of the others counts.
func Iterations(ctx context.Context, method, task string) (best plan.Speed, err error) {
	e, err := plan.New(plan.Request{Task: task, Method: method, Budget: "short", Set: []string{"task.reward=dense"}, Seed: 1})
	if err != nil {
		return best, err
	}
	return plan.MeasureSpeed(ctx, e, 3)
}

// stepFigures are the times of one gradient step of value learners on Balance, at the paper's sizes: 1,024 frames.
func stepFigures() (out []Figure) {
	for _, method := range []string{"qmix", "qplex-ices", "qmix-spectra"} {
		var processor float64
		measured := once(func(ctx context.Context) (wall float64, err error) {
			wall, processor, err = valueStep(ctx, method)
			return wall, err
		})
		out = append(out,
			Figure{"q", "a step of " + method + "'s learner", "ms", 0, "", true, measured},
			Figure{"q", "a step of " + method + "'s: processor", "ms", 0, "", true, func(ctx context.Context) (float64, error) {
				_, err := measured(ctx)
				return processor, err
			}})
	}
	return out
}

// valueStep measures the milliseconds of a gradient step, gathering its frames on the host among it: the best of five times ten, by
// wall clock and by processor time.
func valueStep(ctx context.Context, method string) (wall, processor float64, err error) {
	const frames, steps = 6000, 10
	e, err := plan.New(plan.Request{Task: "vmas/balance", Method: method, Budget: "paper", Set: []string{"task.reward=dense",
		"learner.offpolicy_frames_per_batch=" + strconv.Itoa(frames), "learner.optimizer_steps_per_collection=" + strconv.Itoa(steps)}, Seed: 1})
	if err != nil {
		return 0, 0, err
	}
	env, err := e.Task.Build(1, 0)
	if err != nil {
		return 0, 0, err
	}
	defer envs.Close(env)
	backend, err := nn.Open()
	if err != nil {
		return 0, 0, err
	}
	b := &nn.Build{Spec: env.Spec(), Backend: backend, Store: nn.NewStore(1), Seed: 1}
	defer b.Close()
	learner, err := e.Learner.Build(b, e.Policy)
	if err != nil {
		return 0, 0, err
	}
	x, err := collect(env, learner, frames)
	if err != nil {
		return 0, 0, err
	}
	for k := range 6 {
		start := time.Now()
		before, err := results.ProcessorSeconds()
		if err != nil {
			return 0, 0, err
		}
		if _, err := learner.Update(ctx, x); err != nil {
			return 0, 0, err
		}
		took := ms(time.Since(start)) / steps
		after, err := results.ProcessorSeconds()
		if err != nil {
			return 0, 0, err
		}
		used := 1000 * (after - before) / steps
		if k == 0 {
			continue // warms up
		}
		if k == 1 || took < wall {
			wall = took
		}
		if k == 1 || used < processor {
			processor = used
		}
	}
	return wall, processor, nil
}
