// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"fmt"

	"cermic/envs"
)

// Collector plays an environment into rollouts, one after the other, for a learner that has no run around it: one that is not of this
// library, or one that is measured alone.
type Collector struct {
	env   envs.Env
	seen  *envs.Step
	act   *envs.Actions
	fresh []uint8 // [E] 1 where an episode begins
}

// NewCollector begins an episode in every environment of env.
func NewCollector(env envs.Env) *Collector {
	s := env.Spec()
	c := &Collector{env, envs.NewStep(s), envs.NewActions(s), make([]uint8, s.NumEnvs)}
	for i := range c.fresh {
		c.fresh[i] = 1
	}
	env.Reset(c.fresh, c.seen)
	return c
}

// Collect plays x.T steps of every copy into x, from where the last rollout ended; rewards are those that the environment is set to train on.
// choose writes the actions of step t by what is seen, and into x what else a learner keeps of them, as log π. It returns the first error, of
// choose or of the environment.
func (p *Collector) Collect(x *Rollout, choose func(t int, seen *envs.Step, act *envs.Actions) error) error {
	x.Clear()
	for t := range x.T {
		if err := envs.CheckStep(p.env, p.seen, nil); err != nil {
			return fmt.Errorf("step %d: %w", t, err)
		}
		x.Observe(t, p.seen)
		copy(x.IsFirst[t*x.E:], p.fresh)
		if err := choose(t, p.seen, p.act); err != nil {
			return err
		}
		copy(x.Act.Discrete[t*len(p.act.Discrete):], p.act.Discrete)
		copy(x.Act.Continuous[t*len(p.act.Continuous):], p.act.Continuous)
		p.env.Step(p.act, p.seen)
		if err := envs.CheckStep(p.env, p.seen, nil); err != nil {
			return fmt.Errorf("step %d: %w", t+1, err)
		}
		reward := p.seen.Dense
		if x.Spec.Sparse {
			reward = p.seen.Sparse
		}
		copy(x.Extrinsic[t*x.E*x.N:], reward)
		copy(x.Terminated[t*x.E:], p.seen.Terminated)
		copy(x.Truncated[t*x.E:], p.seen.Truncated)
		for c := range p.fresh {
			if p.fresh[c] = p.seen.Terminated[c] | p.seen.Truncated[c]; p.fresh[c] != 0 {
				x.End(t, c, p.seen) // the true last observation, before a new episode begins
			}
		}
		p.env.Reset(p.fresh, p.seen)
	}
	err := envs.CheckStep(p.env, p.seen, nil)
	x.Observe(x.T, p.seen)
	return err
}
