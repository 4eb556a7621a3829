// SPDX-License-Identifier: Apache-2.0

// Package scripted lets policies act that have learned nothing: random ones, and those that tasks have by hand.
package scripted

import (
	"fmt"
	"strings"

	"cermic/envs"
	"cermic/envs/rng"
)

// Policy names one that has learned nothing.
type Policy string

// The policies that most tasks have.
const (
	Random Policy = "random" // every action equally likely
	Script Policy = "script" // the task's own hand-written policy
)

// Episodes is what came of episodes of one policy on one task: how hard the task is before any learning, and how much of its
// sparse reward chance finds.
type Episodes struct {
	Task                 string
	Policy               Policy
	Milestones           int // partial rewards that the sparse reward is split into
	Horizon, EvalHorizon int // steps of the sparse reward, and of the benchmark's metric
	Metric               string
	// One number for each episode.
	Success []float64 // 1 if it succeeded within Horizon, else 0; nil if the task has no success
	Sparse  []float64 // sparse return of an agent, on average
	Dense   []float64 // the benchmark's metric, counted up to EvalHorizon
}

// String sums up a single episode: "script: reward 12.3, success".
func (p *Episodes) String() string {
	out := strings.ReplaceAll(fmt.Sprintf("%s: %.4g", p.Policy, p.Dense[0]), " -", " −")
	if p.Success != nil && p.Success[0] == 1 {
		out += ", success"
	}
	return out
}

// Rollout plays one episode of the sparse reward in each of as many copies. Episode c depends on the seed and on c alone. It
// returns nil if the task has no script for a Script policy.
func Rollout(cfg envs.Config, policy Policy, episodes int, seed uint64) (*Episodes, error) {
	return play(cfg, envs.Sparse, policy, episodes, seed, nil)
}

// RolloutDense is Rollout with the dense reward, whose episodes end with what is scored.
func RolloutDense(cfg envs.Config, policy Policy, episodes int, seed uint64) (*Episodes, error) {
	return play(cfg, envs.Dense, policy, episodes, seed, nil)
}

// alone builds one copy of a task.
func alone(cfg envs.Config) (envs.Env, error) {
	shared := cfg.Shared()
	shared.NumEnvs = 1
	return cfg.WithShared(shared).Build(1, 1)
}

// Policies are those that can act in cfg.
func Policies(cfg envs.Config) ([]Policy, error) {
	env, err := alone(cfg)
	if err != nil {
		return nil, err
	}
	defer envs.Close(env)
	env.Reset(nil, envs.NewStep(env.Spec()))
	if err := envs.Err(env); err != nil {
		return nil, err
	}
	if s, ok := env.(envs.Scripter); ok && s.Script(envs.NewActions(env.Spec())) {
		return []Policy{Random, Script}, nil
	}
	return []Policy{Random}, nil
}

// Film is Rollout of one episode that can be looked at: it also returns the scenes, one a step and the reset first. A task that
// cannot be drawn is an error, and so is one that policy cannot play.
func Film(cfg envs.Config, policy Policy, seed uint64) (*Episodes, []envs.Scene, error) {
	var scenes []envs.Scene
	p, err := play(cfg, envs.Sparse, policy, 1, seed, func(env envs.Env) {
		if scener, ok := env.(envs.Scener); ok {
			scenes = append(scenes, scener.Scene(0))
		}
	})
	switch {
	case err != nil:
		return nil, nil, err
	case p == nil:
		return nil, nil, fmt.Errorf("%s has no script: let it be played at random", cfg.Kind())
	case scenes == nil:
		return nil, nil, fmt.Errorf("%s cannot be drawn", cfg.Kind())
	}
	return p, scenes, nil
}

// play lets a policy act; look, if not nil, sees every step of the environment, the reset first.
func play(cfg envs.Config, reward envs.Reward, policy Policy, episodes int, seed uint64, look func(envs.Env)) (*Episodes, error) {
	shared := cfg.Shared()
	shared.NumEnvs, shared.Reward = episodes, reward
	env, err := cfg.WithShared(shared).Build(seed, 0)
	if err != nil {
		return nil, err
	}
	spec := env.Spec()
	p := &Episodes{
		Task: spec.Name, Policy: policy, Milestones: 1, Horizon: spec.Horizon, EvalHorizon: spec.EvalHorizon,
		Metric: spec.Metric,
		Sparse: make([]float64, episodes), Dense: make([]float64, episodes),
	}
	choose := randomly(spec, seed)
	if script, ok := env.(envs.Scripter); policy == Script && ok {
		choose = func(_ *envs.Step, act *envs.Actions) bool { return script.Script(act) }
	} else if policy != Random {
		if choose = jointly(env, policy); choose == nil {
			return nil, nil
		}
	}
	if look == nil {
		look = func(envs.Env) {}
	}
	defer envs.Close(env)
	if ok, err := p.count(env, choose, look); !ok || err != nil {
		return nil, err
	}
	return p, nil
}

// count runs the first episode of every copy to its end, and the next one in place of one that is aborted; it reports false as soon as
// choose does.
func (p *Episodes) count(env envs.Env, choose func(*envs.Step, *envs.Actions) bool, look func(envs.Env)) (bool, error) {
	spec := env.Spec()
	out, act, n := envs.NewStep(spec), envs.NewActions(spec), spec.Agents
	over, left, done := make([]bool, spec.NumEnvs), spec.NumEnvs, make([]uint8, spec.NumEnvs)
	aborted, end := 0, spec.Horizon
	env.Reset(nil, out)
	look(env)
	for t := 0; t < end && left > 0; t++ {
		if err := envs.CheckStep(env, out, nil); err != nil {
			return false, fmt.Errorf("%s, step %d: %w", spec.Name, t, err)
		}
		if !choose(out, act) {
			return false, nil
		}
		env.Step(act, out)
		look(env)
		for c := range over {
			if done[c] = out.Terminated[c] | out.Truncated[c]; over[c] {
				continue
			}
			p.Dense[c] += float64(out.Score[c])
			for _, r := range out.Sparse[c*n : (c+1)*n] {
				p.Sparse[c] += float64(r) / float64(n)
			}
			switch {
			case done[c] != 0 && envs.Aborted(env, c):
				p.Dense[c], p.Sparse[c] = 0, 0
				aborted, end = aborted+1, t+1+spec.Horizon
			case done[c] != 0:
				over[c] = true
				left--
			}
		}
		if aborted > spec.NumEnvs {
			return false, fmt.Errorf("%d episodes of %s were aborted, and %d were to be played", aborted, spec.Name, spec.NumEnvs)
		}
		if left > 0 {
			env.Reset(done, out) // no one may step an episode that has ended
		}
	}
	p.judge(spec)
	return true, nil
}

// judge fills Success.
func (p *Episodes) judge(spec *envs.Spec) {
	if !spec.HasSuccess() {
		return
	}
	p.Success = make([]float64, len(p.Sparse))
	for c, sparse := range p.Sparse {
		if spec.Succeeds(sparse) {
			p.Success[c] = 1
		}
	}
}

// randomly returns a policy that draws every allowed action equally likely, each environment from a stream of its own.
func randomly(spec *envs.Spec, seed uint64) func(*envs.Step, *envs.Actions) bool {
	streams := make([]*rng.Rand, spec.NumEnvs)
	for c := range streams {
		streams[c] = rng.New(seed, "random play", uint64(c))
	}
	n, k := spec.Agents, spec.Act.Choices
	return func(s *envs.Step, act *envs.Actions) bool {
		for row := range spec.NumEnvs * n {
			r := streams[row/n]
			if k > 0 {
				act.Discrete[row] = anyAllowed(s.Mask, row, k, r)
				continue
			}
			for d := range spec.Act.Dim {
				act.Continuous[row*spec.Act.Dim+d] = r.Uniform(spec.Act.Low[d], spec.Act.High[d])
			}
		}
		return true
	}
}

// anyAllowed draws one of the choices that mask [rows,k] allows; nil allows all.
func anyAllowed(mask []uint8, row, k int, r *rng.Rand) int32 {
	if mask == nil {
		return int32(r.IntN(k))
	}
	allowed := 0
	for _, m := range mask[row*k : (row+1)*k] {
		allowed += int(m)
	}
	for at, left := 0, r.IntN(allowed); ; at++ {
		if mask[row*k+at] == 0 {
			continue
		}
		if left == 0 {
			return int32(at)
		}
		left--
	}
}
