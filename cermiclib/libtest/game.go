// SPDX-License-Identifier: Apache-2.0

package libtest

import (
	"cermic/envs"
	"cermic/envs/explore"
)

// toyCommon holds the common settings of the toy tasks.
var toyCommon = envs.Common{NumEnvs: 8, Reward: envs.Dense}

// TwoStep is explore/two_step in 8 environments.
func TwoStep() envs.Config { return explore.DefaultTwoStep().WithShared(toyCommon) }

// Climbing is explore/climbing in 8 environments.
func Climbing() envs.Config { return explore.DefaultClimbing().WithShared(toyCommon) }

// NonMonotonic is explore/nonmonotonic in 8 environments.
func NonMonotonic() envs.Config { return explore.DefaultNonMonotonic().WithShared(toyCommon) }

// OneChoice is a game of two agents in which action masks allow the second agent a single choice.
type OneChoice struct {
	Game   envs.Config `json:"game"`
	Choice int         `json:"choice"` // of the second agent
}

// Kind is "libtest/one_choice".
func (OneChoice) Kind() string { return "libtest/one_choice" }

// Shared returns the settings that every task has.
func (c OneChoice) Shared() envs.Common { return c.Game.Shared() }

// WithShared returns a copy with the settings that every task has.
func (c OneChoice) WithShared(s envs.Common) envs.Config { c.Game = c.Game.WithShared(s); return c }

// Build makes the environment.
func (c OneChoice) Build(seed uint64, workers int) (envs.Env, error) {
	env, err := c.Game.Build(seed, workers)
	if err != nil {
		return nil, err
	}
	s := *env.Spec()
	s.Name, s.Masked = c.Kind(), true
	return &oneChoice{Env: env, spec: s, choice: c.Choice}, nil
}

type oneChoice struct {
	envs.Env
	spec   envs.Spec
	choice int
}

func (e *oneChoice) Spec() *envs.Spec { return &e.spec }

func (e *oneChoice) Reset(mask []uint8, out *envs.Step) {
	e.Env.Reset(mask, out)
	e.allow(out)
}

func (e *oneChoice) Step(act *envs.Actions, out *envs.Step) {
	e.Env.Step(act, out)
	e.allow(out)
}

// allow writes the action masks [E,2,K].
func (e *oneChoice) allow(out *envs.Step) {
	k := e.spec.Act.Choices
	for i := range out.Mask {
		out.Mask[i] = 1
		if i/k%2 == 1 && i%k != e.choice {
			out.Mask[i] = 0
		}
	}
}
