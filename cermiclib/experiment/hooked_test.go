// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/vmas"
)

// Stages of an iteration, as a hook is told them.
const (
	collecting = "collect"
	rewarding  = "reward"
	learning   = "update"
	exploring  = "module update"
	evaluating = "evaluate"
)

var stages = []string{collecting, rewarding, learning, exploring, evaluating}

// hook is called before each graph call of a hooked experiment. What it does belongs to no experiment: hooked ones have
// the identity of those without.
type hook func(ctx context.Context, stage string) error

// hooked makes the stages of e call h.
func hooked(e Config, h hook) Config {
	watched := &watchedModule{hook: h}
	e.Learner = hookedLearner{MAPPO: e.Learner.(learn.MAPPO), watched: watched}
	e.Explore = hookedExplorer{watched: watched}
	return e
}

type hookedLearner struct {
	learn.MAPPO
	watched *watchedModule
}

func (c hookedLearner) Build(b *nn.Build, p policy.Config) (learn.Learner, error) {
	inner, err := c.MAPPO.Build(b, p)
	return &watchedLearner{inner, c.watched}, err
}

type watchedLearner struct {
	learn.Learner
	watched *watchedModule
}

// Act is told apart from that of the rollout batch by its place: it follows the last stage of training.
func (l *watchedLearner) Act(in *rl.Obs, out *rl.Dist) error {
	if l.watched.trained {
		if err := l.watched.hook(context.Background(), evaluating); err != nil {
			return err
		}
	}
	return l.Learner.Act(in, out)
}

func (l *watchedLearner) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if err := l.watched.hook(ctx, learning); err != nil {
		return nil, err
	}
	return l.Learner.Update(ctx, x)
}

// hookedExplorer is explore.None with a hook.
type hookedExplorer struct {
	explore.None
	watched *watchedModule
}

func (c hookedExplorer) Build(*nn.Build) (explore.Module, error) { return c.watched, nil }

type watchedModule struct {
	hook    hook
	trained bool // since the last step of a rollout batch
}

func (m *watchedModule) Behave(int, *rl.Obs, *rl.Dist) error {
	m.trained = false
	return m.hook(context.Background(), collecting)
}

func (m *watchedModule) Reward(ctx context.Context, _ *rl.Rollout) (rl.Scalars, error) {
	return nil, m.hook(ctx, rewarding)
}

func (m *watchedModule) Update(ctx context.Context, _ *rl.Rollout) (rl.Scalars, error) {
	m.trained = true
	return nil, m.hook(ctx, exploring)
}

// altered is Balance with changed environments.
type altered struct {
	vmas.Balance
	alter func(envs.Env) envs.Env
}

func (c altered) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

func (c altered) Build(seed uint64, workers int) (envs.Env, error) {
	env, err := c.Balance.Build(seed, workers)
	return c.alter(env), err
}

// spoiledEnv shows what spoil makes of each step.
type spoiledEnv struct {
	envs.Env
	envs.Coverer
	spoil func(*envs.Step)
}

func (e spoiledEnv) Step(act *envs.Actions, out *envs.Step) {
	e.Env.Step(act, out)
	e.spoil(out)
}
