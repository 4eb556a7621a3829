// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
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
	_, err = tr.evaluate(t.Context())
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

// spoil makes the environments of e show NaN or infinite numbers from the iteration after the first on. change selects
// the field; when is collecting or evaluating.
func spoil(e Config, change func(s *envs.Step), when string, from int) (spoiled Config, watch func(results.Event)) {
	stage, iterations := "", 0
	spoil := func(s *envs.Step) {
		if stage == when && iterations >= from {
			change(s)
		}
	}
	e.Task = altered{e.Task.(vmas.Balance), func(env envs.Env) envs.Env { return spoiledEnv{env, env.(envs.Coverer), spoil} }}
	e = hooked(e, func(_ context.Context, now string) error { stage = now; return nil })
	return e, func(event results.Event) {
		if event.Scalars != nil {
			iterations++
		}
	}
}

// spoilLast ends the episode of environment 1 and spoils what it shows there, which a reset replaces.
func spoilLast(s *envs.Step, v float32) {
	s.Truncated[1], s.Obs[len(s.Obs)/len(s.Truncated)] = 1, v
}

func TestNumbersThatAreNotFiniteStopTheRun(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	diverging := tiny(3).Learner.(learn.MAPPO)
	diverging.LR = 1e30
	for name, c := range map[string]struct {
		change func(s *envs.Step)
		when   string
		from   int // first iteration that is spoiled
		want   string
		frames int // of the last checkpoint
	}{
		"reward":           {func(s *envs.Step) { s.Dense[2] = nan }, collecting, 1, "the reward of agent 2 of vmas/balance became NaN in environment 0 at step 1 of iteration 1", 200},
		"infinite reward":  {func(s *envs.Step) { s.Dense[2] = inf }, collecting, 0, "the reward of agent 2 of vmas/balance became +Inf in environment 0 at step 1 of iteration 0", 0},
		"training score":   {func(s *envs.Step) { s.Score[1] = nan }, collecting, 1, "train_score became NaN in iteration 1", 200},
		"evaluation score": {func(s *envs.Step) { s.Score[1] = nan }, evaluating, 2, "an episode's score became NaN in the evaluation at 800 frames", 600},
		"observation":      {func(s *envs.Step) { s.Obs[5] = nan }, collecting, 1, "component 5 of the observation of agent 0 of vmas/balance became NaN in environment 0 at step 1 of iteration 1", 200},
		"state":            {func(s *envs.Step) { s.State[1] = -inf }, collecting, 1, "component 1 of the state of vmas/balance became -Inf in environment 0 at step 1 of iteration 1", 200},
		"last observation": {func(s *envs.Step) { spoilLast(s, nan) }, collecting, 0, "component 0 of the observation of agent 0 of vmas/balance became NaN in environment 1 at step ", 0},
		"seen in play":     {func(s *envs.Step) { s.Obs[len(s.Obs)-1] = nan }, evaluating, 2, "component 15 of the observation of agent 3 of vmas/balance became NaN in environment 4 at step 1 of an evaluation", 600},
		"step size":        {nil, "", 0, "iteration 0: learner: critic_loss became +Inf in update ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			st, e := open(t), tiny(3)
			var watch []func(results.Event)
			if c.change == nil {
				e.Learner = diverging
			}
			for try := range 2 { // the second goes on from the last checkpoint and ends alike
				spoiled := e
				if c.change != nil {
					var w func(results.Event)
					spoiled, w = spoil(e, c.change, c.when, max(0, c.from-try*c.frames/200))
					watch = []func(results.Event){w}
				}
				got, err := Run(t.Context(), spoiled, st, watch...)
				if err == nil || strings.Contains(err.Error(), "\n") || !contains(err, c.want) || got.Complete || got.Frames != c.frames {
					t.Fatalf("try %d: got %v with %d frames, complete %v; want %q and %d frames", try, err, got.Frames, got.Complete, c.want, c.frames)
				}
				must.Refuse(t, err, fmt.Sprintf("its last checkpoint is at %d frames", c.frames))
			}
			id := must.Get(e.ID())(t)
			if r, err := st.Get(id); err != nil || r.Complete || r.Frames != c.frames {
				t.Errorf("the store has %+v, %v", r, err)
			}
			if c.change == nil {
				return
			}
			// Nothing of it was written: once the environment is well again, the run ends as if it had always been.
			whole := open(t)
			must.Do(t, RunAll(t.Context(), []Config{e}, whole, 1))
			must.Do(t, RunAll(t.Context(), []Config{e}, st, 1))
			sameRecord(t, record(t, whole, id), record(t, st, id))
		})
	}
}
