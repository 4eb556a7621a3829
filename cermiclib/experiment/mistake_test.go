// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"math"
	"testing"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/vmas"
)

// mistaken is an explorer of which one thing is wrong.
type mistaken struct {
	explore.None
	none   bool // Build returns nothing
	reward func(x *rl.Rollout) rl.Scalars
}

func (c mistaken) Build(*nn.Build) (explore.Module, error) {
	if c.none {
		return nil, nil
	}
	return mistakenModule{c.reward}, nil
}

type mistakenModule struct {
	reward func(x *rl.Rollout) rl.Scalars
}

func (mistakenModule) Behave(int, *rl.Obs, *rl.Dist) error { return nil }

func (m mistakenModule) Reward(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if m.reward == nil {
		return nil, nil
	}
	return m.reward(x), nil
}

func (mistakenModule) Update(context.Context, *rl.Rollout) (rl.Scalars, error) { return nil, nil }

// Each mistake of an author ends the run in one sentence.
func TestMistakesOfExplorersAreNamed(t *testing.T) {
	for want, c := range map[string]mistaken{
		"Build returned nil and no error": {none: true},
		"iteration 0: the intrinsic reward of agent 1 in environment 2 became NaN": {reward: func(x *rl.Rollout) rl.Scalars {
			x.Intrinsic[(3*x.E+2)*x.N+1] = float32(math.NaN())
			return nil
		}},
		"reports a scalar extrinsic, which is the run's own": {reward: func(*rl.Rollout) rl.Scalars { return rl.Scalars{"extrinsic": 1} }},
	} {
		e := tiny(3)
		e.Explore = c
		_, err := Run(t.Context(), e, open(t))
		must.Refuse(t, err, want)
	}
}

// deadEnv begins with dead agents.
type deadEnv struct{ envs.Env }

func (e deadEnv) Reset(mask []uint8, out *envs.Step) {
	e.Env.Reset(mask, out)
	clear(out.Alive)
}

// muteTask allows a living agent nothing in the second step.
type muteTask struct{ cellTask }

func (c muteTask) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

func (c muteTask) Build(seed uint64, workers int) (envs.Env, error) {
	env, err := c.cellTask.Build(seed, workers)
	return &muteEnv{env, 0}, err
}

type muteEnv struct {
	envs.Env
	steps int
}

func (e *muteEnv) Step(act *envs.Actions, out *envs.Step) {
	e.Env.Step(act, out)
	if e.steps++; e.steps == 2 {
		clear(out.Mask[(2*2+1)*4:]) // of agent 1 in the last of three environments
	}
}

func TestALivingAgentWithoutAChoiceIsNamed(t *testing.T) {
	e := cells()
	e.Task = muteTask{e.Task.(cellTask)}
	const want = "test/cells, step 2 of iteration 0: agent 1 of environment 2 is alive without an allowed action in Step.Mask"
	_, err := Run(t.Context(), e, open(t))
	must.Refuse(t, err, want)
	tr := trainerOf(t, cells())
	tr.exp.Task = e.Task
	const inEvaluation = "step 2 of an evaluation: agent 1 of environment 2 is alive"
	_, err = tr.evaluate(t.Context(), nil)
	must.Refuse(t, err, inEvaluation)
}

func TestMistakesOfTasksAreNamed(t *testing.T) {
	for want, alter := range map[string]func(envs.Env) envs.Env{
		"its Reset must set Step.Alive":                      func(env envs.Env) envs.Env { return deadEnv{env} },
		"task vmas/balance: Build returned nil and no error": func(envs.Env) envs.Env { return nil },
	} {
		e := tiny(3)
		e.Task = altered{e.Task.(vmas.Balance), alter}
		_, err := Run(t.Context(), e, open(t))
		must.Refuse(t, err, want)
	}
}
