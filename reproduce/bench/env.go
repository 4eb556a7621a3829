// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// balance builds the task that every figure is measured on, with the benchmark's own dense reward.
func balance(copies int) (envs.Env, error) {
	cfg, err := envs.Default("vmas/balance")
	if err != nil {
		return nil, err
	}
	return cfg.WithShared(envs.Common{NumEnvs: copies, Reward: envs.Dense}).Build(1, 0)
}

// window is how long a task is stepped at a time. Tests, which want a number and not a good one, shorten it.
var window = 250 * time.Millisecond

// Stepping returns a measurement of frames a second of a task alone, dense reward: actions drawn beforehand in, or the next
// ones that are allowed, observations, rewards and labels out, finished environments reset. Best of several windows, since other programs
// can only slow it down.
func Stepping(task string, copies int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		cfg, err := envs.Default(task)
		if err != nil {
			return 0, err
		}
		env, err := cfg.WithShared(envs.Common{NumEnvs: copies, Reward: envs.Dense}).Build(1, 0)
		if err != nil {
			return 0, err
		}
		out, done, acts := envs.NewStep(env.Spec()), make([]uint8, copies), drawn(env.Spec(), 8)
		act := envs.NewActions(env.Spec())
		env.Reset(nil, out)
		best := 0.0
		for range 8 {
			start, steps := time.Now(), 0
			for ; time.Since(start) < window; steps++ {
				copy(act.Continuous, acts[steps%len(acts)].Continuous)
				allow(act.Discrete, acts[steps%len(acts)].Discrete, out.Mask)
				env.Step(act, out)
				for c := range done {
					done[c] = out.Terminated[c] | out.Truncated[c]
				}
				env.Reset(done, out)
			}
			best = max(best, float64(steps*copies)/time.Since(start).Seconds())
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
		}
		return best, nil
	}
}

// allow copies choices and, where mask [rows,K] forbids one, takes the next one that it allows; a nil mask allows all.
func allow(dst, choices []int32, mask []uint8) {
	copy(dst, choices)
	if len(mask) == 0 {
		return
	}
	k := len(mask) / len(dst)
	for row := range dst {
		for tries := 0; tries < k && mask[row*k+int(dst[row])] == 0; tries++ { // a dead agent may be allowed nothing
			dst[row] = (dst[row] + 1) % int32(k)
		}
	}
}

// drawn returns n sets of random actions.
func drawn(spec *envs.Spec, n int) []*envs.Actions {
	r, acts := rng.New(1, "bench actions"), make([]*envs.Actions, n)
	for i := range acts {
		acts[i] = envs.NewActions(spec)
		for k := range acts[i].Continuous {
			d := k % spec.Act.Dim
			acts[i].Continuous[k] = r.Uniform(spec.Act.Low[d], spec.Act.High[d])
		}
		for k := range acts[i].Discrete {
			acts[i].Discrete[k] = int32(r.IntN(spec.Act.Choices))
		}
	}
	return acts
}

// Updating measures the milliseconds of one MAPPO minibatch on Balance: 2,400 frames (9,600 actor rows, 2,400 critic
// rows), networks of 256-256. Gathering the minibatch on the host is in it, and so are the targets, once in 20
// minibatches. Median of seven times 20.
func Updating(ctx context.Context) (float64, error) {
	env, err := balance(60)
	if err != nil {
		return 0, err
	}
	backend, err := nn.Open()
	if err != nil {
		return 0, err
	}
	learner, err := updateMAPPO().Build(&nn.Build{Spec: env.Spec(), Backend: backend, Store: nn.NewStore(1), Seed: 1}, policy.DefaultMLP())
	if err != nil {
		return 0, err
	}
	x, err := collect(env, learner, updateFrames)
	if err != nil {
		return 0, err
	}
	if _, err := learner.Update(ctx, x); err != nil { // compiles
		return 0, err
	}
	ms := make([]float64, 7)
	for i := range ms {
		start := time.Now()
		if _, err := learner.Update(ctx, x); err != nil {
			return 0, err
		}
		ms[i] = time.Since(start).Seconds() * 1000 / updateEpochs
	}
	slices.Sort(ms)
	return ms[len(ms)/2], nil
}

// updatingOnce is Updating for several figures.
var updatingOnce = once(Updating)

// collect fills one rollout with the learner's own actions.
func collect(env envs.Env, learner learn.Learner, frames int) (*rl.Rollout, error) {
	spec := env.Spec()
	x := rl.NewRollout(spec, frames/spec.NumEnvs, learner.HiddenLen())
	x.KeepLabels()
	dist, r := rl.NewDist(spec, learner.HiddenLen()), rng.New(1, "bench actions")
	hidden := make([]float32, len(dist.Hidden))
	return x, rl.NewCollector(env).Collect(x, func(t int, seen *envs.Step, act *envs.Actions) error {
		for c := range spec.NumEnvs {
			if x.IsFirst[t*spec.NumEnvs+c] != 0 {
				clear(hidden[c*len(hidden)/spec.NumEnvs : (c+1)*len(hidden)/spec.NumEnvs])
			}
		}
		copy(x.Hidden[t*len(hidden):], hidden)
		if err := learner.Act(&rl.Obs{Obs: seen.Obs, State: seen.State, Mask: seen.Mask, Alive: seen.Alive, Hidden: hidden}, dist); err != nil {
			return fmt.Errorf("act: %w", err)
		}
		copy(hidden, dist.Hidden)
		rows := spec.NumEnvs * spec.Agents
		for row := range rows {
			x.LogP[t*rows+row] = dist.Sample(row, r, act)
		}
		copy(x.Raw[t*len(dist.Raw):], dist.Raw)
		return nil
	})
}
