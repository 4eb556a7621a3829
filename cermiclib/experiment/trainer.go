// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// trainer is an experiment in memory. It steps the environment and keeps count of its episodes; its groups decide and
// learn.
type trainer struct {
	exp       Config
	backend   nn.Backend
	env       envs.Env
	spec      *envs.Spec
	groups    []*group
	step      *envs.Step // current observations of all agents
	act       *envs.Actions
	isFirst   []uint8   // [E] 1 where an episode has just started: the mask of the last reset
	score     []float32 // [E] of the running episodes
	length    []int32   // [E] steps of the running episodes
	visited   *coverage
	iteration int // completed
	frames    int // completed
}

// newTrainer builds the experiment; files is the folder of its store, where pre-trained weights lie.
func newTrainer(e Config, backend nn.Backend, files string) (_ *trainer, err error) {
	env, err := e.Task.Build(e.Seed, 0)
	if err != nil {
		return nil, err
	}
	t := &trainer{exp: e, backend: backend, env: env, spec: env.Spec()}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	t.step, t.act = envs.NewStep(t.spec), envs.NewActions(t.spec)
	for _, view := range envs.Views(t.spec) {
		g, err := newGroup(e, view, backend, files)
		if err != nil {
			return nil, inGroup(view, err)
		}
		t.groups = append(t.groups, g)
		if err := g.allocBuffers(e.Learner.CollectFrames(), t.step, t.act); err != nil {
			return nil, inGroup(view, err)
		}
	}
	copies := t.spec.NumEnvs
	t.isFirst = slices.Repeat([]uint8{1}, copies)
	t.score, t.length = make([]float32, copies), make([]int32, copies)
	t.env.Reset(nil, t.step)
	if err := envs.Err(t.env); err != nil {
		return nil, err
	}
	if !slices.Contains(t.step.Alive, 1) {
		return nil, fmt.Errorf("task %s has no living agent at the beginning: its Reset must set Step.Alive", e.Task.Kind())
	}
	t.visited = newCoverage(env, t.collected())
	return t, t.observe(0)
}

// close releases the graphs and the environment.
func (t *trainer) close() {
	for _, g := range t.groups {
		g.build.Close()
	}
	envs.Close(t.env)
}

// observe passes every group the current observations of its agents, after k steps of the rollout batch.
func (t *trainer) observe(k int) error {
	if err := envs.CheckStep(t.env, t.step, nil); err != nil {
		return fmt.Errorf("%s, step %d of iteration %d: %w", t.spec.Name, k, t.iteration, err)
	}
	for _, g := range t.groups {
		g.view.Gather(g.step, t.step)
	}
	return nil
}

type rolloutHooks struct{}

// OnRollout returns a context in which f gets every rollout batch before the learner, one rollout per group of agents,
// with the frames trained before. f runs on the goroutine that trains; it must not change or keep the batch. A call
// that has begun when ctx ends may outlast Run.
func OnRollout(ctx context.Context, f func(frames int, batch []*rl.Rollout)) context.Context {
	before, _ := ctx.Value(rolloutHooks{}).([]func(int, []*rl.Rollout))
	return context.WithValue(ctx, rolloutHooks{}, append(slices.Clone(before), f))
}

type stepHook struct{}

// OnStep returns a context in which training shows f the environment after every step of a rollout batch, before ended
// episodes are reset. f runs on the goroutine that trains and must not change the environment.
func OnStep(ctx context.Context, f func(env envs.Env)) context.Context {
	return context.WithValue(ctx, stepHook{}, f)
}

// iterate is one pass of the outer loop of Algorithm 1.
//
// paper:Algorithm1  collect with r^i added → update actor and critic → update the curiosity module
func (t *trainer) iterate(ctx context.Context) (rl.Scalars, error) {
	scalars, err := t.collect(ctx)
	if err != nil {
		return nil, err
	}
	return t.learn(ctx, scalars)
}

// learn updates all parts on the rollout batch that collect has reported with these scalars, to which it adds theirs.
func (t *trainer) learn(ctx context.Context, scalars rl.Scalars) (rl.Scalars, error) {
	if err := cmp.Or(t.checkSeen(), t.finite(scalars)); err != nil {
		return nil, err
	}
	hooks, _ := ctx.Value(rolloutHooks{}).([]func(int, []*rl.Rollout))
	var batch []*rl.Rollout
	for _, g := range t.groups {
		batch = append(batch, g.x)
	}
	for _, h := range hooks {
		h(t.frames, batch)
	}
	own, errs := make([]rl.Scalars, len(t.groups)), make([]error, len(t.groups))
	var all sync.WaitGroup
	for i, g := range t.groups { // together: one group's graphs leave cores idle, and groups share no variables
		all.Go(func() { own[i], errs[i] = t.learnGroup(ctx, g, scalars) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	for _, s := range own {
		maps.Copy(scalars, s)
	}
	t.visited.averageBonus(t.groups)
	t.iteration++
	t.frames += t.collected()
	return scalars, nil
}

// learnGroup runs the stages after a rollout batch for one group: the explorer's reward, the learner's update, the
// explorer's. It returns the group's scalars under its name. ofRun are the run's own scalars.
func (t *trainer) learnGroup(ctx context.Context, g *group, ofRun rl.Scalars) (rl.Scalars, error) {
	type stage = func(context.Context, *rl.Rollout) (rl.Scalars, error)
	own := rl.Scalars{}
	for _, run := range []stage{g.reward, g.learner.Update, g.module.Update} {
		scalars, err := run(ctx, g.x)
		if err != nil {
			return nil, fmt.Errorf("iteration %d: %w", g.x.Iteration, err)
		}
		for name, v := range scalars {
			name = g.path() + name
			if _, ok := ofRun[name]; ok {
				return nil, fmt.Errorf("a learner or an explorer reports a scalar %s, which is the run's own: it needs another "+
					"name", name)
			}
			own[name] = v
		}
		if err := t.finite(own); err != nil {
			return nil, err
		}
	}
	g.logActions()
	return own, nil
}

// collected is the number of frames of a rollout batch.
func (t *trainer) collected() int { return t.groups[0].x.T * t.spec.NumEnvs }

// finite names the first scalar, in alphabetical order, that is NaN or infinite.
func (t *trainer) finite(s rl.Scalars) error {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if v := s[name]; notFinite(v) {
			return fmt.Errorf("%s became %g in iteration %d", name, v, t.iteration)
		}
	}
	return nil
}

// checkSeen names the first NaN or infinite number in the observations, states and rewards of the rollout batch. It
// comes before learning: a replay could return the number much later, and a loss would be blamed.
func (t *trainer) checkSeen() error {
	for _, g := range t.groups {
		x, n := g.x, g.x.N*g.spec.ObsLen()
		for frame := range (x.T + 1) * x.E {
			state := x.State[frame*g.spec.State : (frame+1)*g.spec.State]
			err := checkFinite(g.spec, x.Obs[frame*n:(frame+1)*n], state)
			if before := frame - x.E; err == nil && before >= 0 {
				rewards := x.Extrinsic[before*x.N : (before+1)*x.N]
				if i := slices.IndexFunc(rewards, notFinite); i >= 0 {
					err = fmt.Errorf("the reward of agent %d of %s became %g", i, g.spec.Name, rewards[i])
				} else if x.Done(before/x.E, before%x.E) {
					err = checkFinite(g.spec, x.NextObs(before), x.NextState(before))
				}
			}
			if err != nil {
				return inGroup(g.view, fmt.Errorf("%w in environment %d at step %d of iteration %d, want a finite number",
					err, frame%x.E, frame/x.E, x.Iteration))
			}
		}
	}
	return nil
}

// notFinite reports whether v is NaN or infinite.
func notFinite[F float32 | float64](v F) bool { return v-v != 0 }

// checkFinite returns an error for the first NaN or infinite number in the observations [N,O] and the state [S] of an
// environment.
func checkFinite(s *envs.Spec, obs, state []float32) error {
	if i := slices.IndexFunc(obs, notFinite); i >= 0 {
		o := s.ObsLen()
		return fmt.Errorf("component %d of the observation of agent %d of %s became %g", i%o, i/o, s.Name, obs[i])
	}
	if i := slices.IndexFunc(state, notFinite); i >= 0 {
		return fmt.Errorf("component %d of the state of %s became %g", i, s.Name, state[i])
	}
	return nil
}

// collect fills the rollouts with T steps of every environment and reports the episodes that ended in them.
func (t *trainer) collect(ctx context.Context) (rl.Scalars, error) {
	for _, g := range t.groups {
		for row := range g.streams {
			g.streams[row].Seed(g.seed, "actions", uint64(t.iteration), uint64(row))
		}
	}
	done, err := t.gather(ctx, func(g *group, k int) error { return g.decide(k, t.frames, t.isFirst) })
	if err != nil {
		return nil, err
	}
	scalars := done.scalars(t.groups)
	if t.visited != nil {
		scalars["coverage"] = t.visited.visits.Coverage()
	}
	return scalars, nil
}

// gather fills the rollouts with T steps of every environment. act writes a group's actions of step k into its act, and
// the data that belong to them into its rollout.
func (t *trainer) gather(ctx context.Context, act func(g *group, k int) error) (done episodes, err error) {
	done.returns = make([]float64, len(t.groups))
	steps, e := t.groups[0].x.T, t.spec.NumEnvs
	show, _ := ctx.Value(stepHook{}).(func(envs.Env))
	for _, g := range t.groups {
		g.x.Clear()
		g.x.Iteration, g.x.Frames = t.iteration, t.frames
	}
	for k := range steps {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		for _, g := range t.groups {
			g.x.Observe(k, g.step)
			copy(g.x.IsFirst[k*e:], t.isFirst)
			copy(g.x.Hidden[k*len(g.hidden):], g.hidden)
			if err := act(g, k); err != nil {
				return done, err
			}
			g.view.Act(t.act, g.act)
		}
		t.env.Step(t.act, t.step)
		t.visited.note(k, e)
		if show != nil {
			show(t.env)
		}
		if err := t.observe(k + 1); err != nil {
			return done, err
		}
		for _, g := range t.groups {
			g.keep(k)
		}
		if err := t.endEpisodes(k, &done); err != nil {
			return done, err
		}
	}
	for _, g := range t.groups {
		g.x.Observe(steps, g.step)
	}
	t.visited.count(t.groups)
	return done, nil
}

// aside lets f play other episodes from their start.
func (t *trainer) aside(f func() error) error {
	for _, g := range t.groups {
		if g.provider == nil {
			continue
		}
		inner := f
		f = func() error { return g.provider.Aside(inner) }
	}
	return f()
}

// endEpisodes keeps the true last observations of the copies that are done and starts their next episode.
func (t *trainer) endEpisodes(k int, done *episodes) error {
	for c := range t.isFirst {
		t.score[c] += t.step.Score[c]
		t.length[c]++
		t.isFirst[c] = t.step.Terminated[c] | t.step.Truncated[c]
		if t.isFirst[c] == 0 {
			continue
		}
		if envs.Aborted(t.env, c) {
			done.aborted++
		} else {
			done.n++
			done.score += float64(t.score[c])
			done.length += float64(t.length[c])
			for i, g := range t.groups {
				if g.returns != nil {
					done.returns[i] += float64(g.returns[c])
				}
			}
		}
		for _, g := range t.groups {
			g.end(k, c)
		}
		t.score[c], t.length[c] = 0, 0
	}
	if slices.Max(t.isFirst) == 0 {
		return nil
	}
	t.env.Reset(t.isFirst, t.step)
	return t.observe(k + 1)
}

// episodes sums up the training episodes that ended in a rollout batch.
type episodes struct {
	n, aborted    int // finished episodes; aborted ones, excluded from means
	score, length float64
	returns       []float64 // [groups] of the reward that is trained on, mean over agents
}

// scalars are present only where they are defined: a rollout batch without an ended episode has no train_score. Scalars
// of a group among several have BenchMARL's names.
func (e *episodes) scalars(groups []*group) rl.Scalars {
	out := rl.Scalars{"episodes": float64(e.n)}
	if e.n > 0 {
		out["train_score"] = e.score / float64(e.n)
		out["train_length"] = e.length / float64(e.n)
	}
	if e.aborted > 0 {
		out["episodes_broken_off"] = float64(e.aborted)
	}
	all, rows := 0.0, 0
	for i, g := range groups {
		sum := 0.0
		for _, r := range g.x.Extrinsic {
			sum += float64(r)
		}
		all, rows = all+sum, rows+len(g.x.Extrinsic)
		if g.view.All() {
			continue
		}
		name := results.CollectionPrefix + g.path() + "reward/"
		out[name+"reward_mean"] = sum / float64(len(g.x.Extrinsic))
		if e.n > 0 {
			out[name+"episode_reward_mean"] = e.returns[i] / float64(e.n)
		}
	}
	out["extrinsic"] = all / float64(rows)
	return out
}
