// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"fmt"
	"slices"

	"cermic/envs"
)

// Collector fills rollouts from an environment, for learners that are used without an experiment.
type Collector struct {
	env     envs.Env
	step    *envs.Step
	act     *envs.Actions
	isFirst []uint8 // [E] 1 where an episode begins
}

// NewCollector begins an episode in every environment of env.
func NewCollector(env envs.Env) *Collector {
	s := env.Spec()
	c := &Collector{env, envs.NewStep(s), envs.NewActions(s), slices.Repeat([]uint8{1}, s.NumEnvs)}
	env.Reset(nil, c.step)
	return c
}

// Collect fills x with x.T steps of every environment, continuing where the last rollout ended. Rewards are dense or
// sparse as the environment's spec says. choose writes the actions of step t for the observed step, and other data that
// the learner keeps in x, such as log π. Collect returns the first error of choose or of the environment.
func (p *Collector) Collect(x *Rollout, choose func(t int, step *envs.Step, act *envs.Actions) error) error {
	x.Clear()
	for t := range x.T {
		if err := envs.CheckStep(p.env, p.step, nil); err != nil {
			return fmt.Errorf("step %d: %w", t, err)
		}
		x.Observe(t, p.step)
		copy(x.IsFirst[t*x.E:], p.isFirst)
		if err := choose(t, p.step, p.act); err != nil {
			return err
		}
		p.env.Step(p.act, p.step)
		if err := envs.CheckStep(p.env, p.step, nil); err != nil {
			return fmt.Errorf("step %d: %w", t+1, err)
		}
		x.Record(t, p.act, p.step)
		for c := range p.isFirst {
			if p.isFirst[c] = p.step.Terminated[c] | p.step.Truncated[c]; p.isFirst[c] != 0 {
				x.End(t, c, p.step) // the true last observation, before a new episode begins
			}
		}
		if slices.Max(p.isFirst) != 0 {
			p.env.Reset(p.isFirst, p.step)
		}
	}
	err := envs.CheckStep(p.env, p.step, nil)
	x.Observe(x.T, p.step)
	return err
}
