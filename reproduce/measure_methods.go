// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/envs"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// methodsGroup is measured only where it is asked for: it takes minutes.
const methodsGroup = "methods"

// speed is what one iteration of a method takes.
type speed struct {
	fps       float64 // frames a second, evaluation left out
	processor float64 // seconds of all cores together
}

// methodFigures are the speeds of the paper's ten methods at the short budget, on two tasks with the reward that the benchmark pays.
func methodFigures() (out []figure) {
	for _, task := range []string{"vmas/navigation", "vmas/balance"} {
		name := strings.TrimPrefix(task, "vmas/")
		for _, m := range paper.Methods {
			both := new(speed)
			measured := once(func(ctx context.Context) (_ float64, err error) {
				*both, err = iterations(ctx, m.ID, task)
				return both.fps, err
			})
			out = append(out,
				figure{methodsGroup, m.ID + ", " + name, "frames/s", 0, "", false, measured},
				figure{methodsGroup, m.ID + ", " + name + ": processor", "s an iteration", 0, "", true, func(ctx context.Context) (float64, error) {
					_, err := measured(ctx)
					return both.processor, err
				}})
		}
	}
	return out
}

// iterations trains a method for four iterations of the short budget and measures the second and the third: the first compiles, and
// the first and the last are evaluated. The better one counts, since other programs can only slow them down.
func iterations(ctx context.Context, method, task string) (best speed, err error) {
	e, err := plan.New(plan.Request{Task: task, Method: method, Budget: "short", Set: []string{"task.reward=dense"}, Seed: 1})
	if err != nil {
		return best, err
	}
	e.Budget.Frames = 4 * e.Learner.CollectFrames()
	e.Budget.Name, e.Budget.EvalEvery, e.Budget.EvalEpisodes = "custom", e.Budget.Frames, 1
	dir, err := os.MkdirTemp("", "cermic-bench")
	if err != nil {
		return best, err
	}
	defer os.RemoveAll(dir)
	st, err := results.Open(dir)
	if err != nil {
		return best, err
	}
	done, before := 0, 0.0
	_, err = run.Run(ctx, e, st, func(ev results.Event) {
		if ev.Scalars == nil {
			return
		}
		now, failed := processorSeconds()
		if done++; done == 2 || done == 3 {
			best.fps = max(best.fps, ev.FPS)
			if used := now - before; failed == nil && (best.processor == 0 || used < best.processor) {
				best.processor = used
			}
		}
		before = now
	})
	return best, err
}

// processorSeconds is the time that all cores together have spent on this process, as Linux counts it.
func processorSeconds() (float64, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, fmt.Errorf("processor time is read from Linux's /proc: %w", err)
	}
	_, after, ok := strings.Cut(string(stat), ") ") // what stands before may hold blanks
	fields := strings.Fields(after)
	if !ok || len(fields) < 13 {
		return 0, errors.New("/proc/self/stat has another form")
	}
	user, errUser := strconv.ParseFloat(fields[11], 64)
	system, errSystem := strconv.ParseFloat(fields[12], 64)
	const ticks = 100 // a second, on every Linux
	return (user + system) / ticks, errors.Join(errUser, errSystem)
}

// stepFigures are the times of one gradient step of value learners on Balance, at the paper's sizes: 1,024 frames.
func stepFigures() (out []figure) {
	for _, method := range []string{"qmix", "qplex-ices", "qmix-spectra"} {
		var processor float64
		measured := once(func(ctx context.Context) (wall float64, err error) {
			wall, processor, err = valueStep(ctx, method)
			return wall, err
		})
		out = append(out,
			figure{"q", "a step of " + method + "'s learner", "ms", 0, "", true, measured},
			figure{"q", "a step of " + method + "'s: processor", "ms", 0, "", true, func(ctx context.Context) (float64, error) {
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
		before, err := processorSeconds()
		if err != nil {
			return 0, 0, err
		}
		if _, err := learner.Update(ctx, x); err != nil {
			return 0, 0, err
		}
		took := ms(time.Since(start)) / steps
		after, err := processorSeconds()
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
