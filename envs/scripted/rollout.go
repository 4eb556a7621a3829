// SPDX-License-Identifier: Apache-2.0

// Package scripted runs policies without learning: the random policy and the tasks' scripts.
package scripted

import (
	"fmt"
	"slices"
	"strings"

	"cermic/envs"
	"cermic/envs/meltingpot"
	"cermic/envs/rng"
)

// Policy names a policy without learning.
type Policy string

// The policies of most tasks.
const (
	Random Policy = "random" // uniform over the allowed actions
	Script Policy = "script" // the task's scripted policy
)

// Episodes holds the results of one policy on one task. They show how hard the task is before learning, and how often
// random actions find the sparse reward.
type Episodes struct {
	Task                 string
	Policy               Policy
	Horizon, EvalHorizon int // steps of the sparse reward, and of the benchmark's metric
	Metric               string
	// One number per episode.
	Success []float64 // 1 if it succeeded within Horizon, else 0; nil if the task defines no success
	Sparse  []float64 // sparse return, averaged over agents
	Dense   []float64 // the benchmark's metric, up to EvalHorizon
}

// String summarises a single episode: "script: reward 12.3, success".
func (p *Episodes) String() string {
	out := strings.ReplaceAll(fmt.Sprintf("%s: %.4g", p.Policy, p.Dense[0]), " -", " −")
	if p.Success != nil && p.Success[0] == 1 {
		out += ", success"
	}
	return out
}

// Rollout runs one episode with the sparse reward in each of episodes environments. Episode c depends on the seed and
// c only. It returns nil for the policy Script if the task has no script.
func Rollout(cfg envs.Config, policy Policy, episodes int, seed uint64) (*Episodes, error) {
	return play(cfg, envs.Sparse, policy, episodes, seed, func(envs.Env) {})
}

// RolloutDense is Rollout with the dense reward, whose episodes end at the scored horizon.
func RolloutDense(cfg envs.Config, policy Policy, episodes int, seed uint64) (*Episodes, error) {
	return play(cfg, envs.Dense, policy, episodes, seed, func(envs.Env) {})
}

// Policies returns the policies that cfg supports.
func Policies(cfg envs.Config) ([]Policy, error) {
	env, err := envs.Alone(cfg)
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

// Film runs one episode and also returns its scenes, starting with the reset. It returns an error if the task cannot
// be drawn or does not support the policy.
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
		return nil, nil, fmt.Errorf("%s has no script; use the random policy", cfg.Kind())
	case scenes == nil:
		return nil, nil, fmt.Errorf("%s cannot be drawn", cfg.Kind())
	}
	return p, scenes, nil
}

// play runs a policy; inspect is called after the reset and every step.
func play(cfg envs.Config, reward envs.Reward, policy Policy, episodes int, seed uint64,
	inspect func(envs.Env)) (*Episodes, error) {
	shared := cfg.Shared()
	shared.NumEnvs, shared.Reward = episodes, reward
	env, err := cfg.WithShared(shared).Build(seed, 0)
	if err != nil {
		return nil, err
	}
	spec := env.Spec()
	p := &Episodes{
		Task: spec.Name, Policy: policy, Horizon: spec.Horizon, EvalHorizon: spec.EvalHorizon,
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
	defer envs.Close(env)
	if ok, err := p.count(env, choose, inspect); !ok || err != nil {
		return nil, err
	}
	return p, nil
}

// count runs the first episode of every environment to its end, repeating aborted ones. It returns false if choose
// does.
func (p *Episodes) count(env envs.Env, choose func(*envs.Step, *envs.Actions) bool,
	inspect func(envs.Env)) (bool, error) {
	spec := env.Spec()
	out, act, n := envs.NewStep(spec), envs.NewActions(spec), spec.Agents
	over, left, done := make([]bool, spec.NumEnvs), spec.NumEnvs, make([]uint8, spec.NumEnvs)
	aborted, end := 0, spec.Horizon
	env.Reset(nil, out)
	inspect(env)
	for t := 0; t < end && left > 0; t++ {
		if err := envs.CheckStep(env, out, nil); err != nil {
			return false, fmt.Errorf("%s, step %d: %w", spec.Name, t, err)
		}
		if !choose(out, act) {
			return false, nil
		}
		env.Step(act, out)
		inspect(env)
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
			return false, fmt.Errorf("%d episodes of %s were aborted, out of %d to run", aborted, spec.Name, spec.NumEnvs)
		}
		if left > 0 {
			env.Reset(done, out) // an episode that has ended must not be stepped
		}
	}
	p.judge(spec)
	return true, nil
}

// judge fills Success from the sparse returns, on tasks that have it.
func (p *Episodes) judge(spec *envs.Spec) {
	if spec.HasSuccess() {
		p.Success = make([]float64, len(p.Sparse))
	}
	for c := range p.Success {
		if spec.Succeeds(p.Sparse[c]) {
			p.Success[c] = 1
		}
	}
}

// randomly returns a uniform policy over the allowed actions, with a separate random stream for each environment.
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

// anyAllowed draws an action that mask [rows,k] allows; a nil mask allows all.
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

// JointPolicies returns the combinations of scripted roles other than the script's: "cooperate + defect", "7 eat".
func JointPolicies(cfg envs.Config) ([]Policy, error) {
	env, err := envs.Alone(cfg)
	if err != nil {
		return nil, err
	}
	var out []Policy
	if r, ok := env.(meltingpot.Roles); ok {
		for _, set := range r.RoleSets()[1:] {
			out = append(out, Policy(set.Name))
		}
	}
	return out, nil
}

// jointly returns a joint policy's action function in env, or nil if env has no such policy.
func jointly(env envs.Env, policy Policy) func(*envs.Step, *envs.Actions) bool {
	r, ok := env.(meltingpot.Roles)
	if !ok {
		return nil
	}
	sets := r.RoleSets()
	k := slices.IndexFunc(sets, func(s meltingpot.RoleSet) bool { return s.Name == string(policy) })
	if k < 0 {
		return nil
	}
	return func(_ *envs.Step, act *envs.Actions) bool {
		r.ScriptRoles(sets[k].Roles, act)
		return true
	}
}
