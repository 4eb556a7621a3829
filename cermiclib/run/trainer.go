// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// trainer is an experiment in memory.
type trainer struct {
	exp       Experiment
	build     *nn.Build
	env       envs.Env
	spec      *envs.Spec
	learner   learn.Learner
	module    explore.Module
	informer  explore.Informer // nil unless module is one
	step      *envs.Step       // what the agents see now
	act       *envs.Actions
	x         *rl.Rollout
	dist      *rl.Dist
	carry     []float32 // [E,N,C]
	context   []float32 // [E,N,F] of the informer
	fresh     []uint8   // [E] 1 where an episode has just started
	score     []float32 // [E] of the running episodes
	length    []int32   // [E] steps of the running episodes
	ended     []uint8   // [E] reset mask
	streams   []rng.Rand
	played    []uint8 // [frames,N] every choice so far, if the learner trains on old experience
	visited   *coverage
	iteration int // completed
	frames    int // completed

	first *trainer // of the curriculum's easier variant; nil without one and after it
	until int      // frames that it trains
}

// newTrainer builds the experiment; files is the folder of its store, where pre-trained weights lie.
func newTrainer(e Experiment, backend nn.Backend, files string) (_ *trainer, err error) {
	env, err := e.Task.Build(e.Seed, 0)
	if err != nil {
		return nil, err
	}
	s := env.Spec()
	t := &trainer{exp: e, env: env, spec: s, visited: newCoverage(env)}
	t.build = &nn.Build{Spec: s, Backend: backend, Store: nn.NewStore(e.Seed), Seed: e.Seed, Files: files}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if c, ok := e.Explore.(explore.Informed); ok {
		if t.build.Context, err = c.ContextLen(t.build); err != nil {
			return nil, err
		}
	}
	// What does not fit even without recurrent states is refused before any graph is compiled.
	if err := rl.Fits(s, e.Learner.CollectFrames()/s.Copies, t.build.Context); err != nil {
		return nil, err
	}
	if t.learner, err = e.Learner.Build(t.build, e.Policy); err != nil {
		return nil, err
	}
	if t.module, err = e.Explore.Build(t.build); err != nil {
		return nil, err
	}
	if l, ok := t.learner.(learn.Rescorer); ok {
		scorer, _ := t.module.(rl.Scorer)
		if err := l.Rescore(scorer); err != nil {
			return nil, err
		}
	}
	if l, ok := t.learner.(learn.Replayer); ok {
		if m, ok := t.module.(explore.Replayed); ok {
			m.UseReplay(l.Experience())
		}
	}
	if err := t.canRecord(); err != nil {
		return nil, err
	}
	if err := t.makeRoom(); err != nil {
		return nil, err
	}
	t.env.Reset(nil, t.step)
	for c := range t.fresh {
		t.fresh[c] = 1
	}
	if e.Curriculum.on() {
		if err := t.enrol(files); err != nil {
			return nil, err
		}
	}
	return t, envs.Err(t.env)
}

// makeRoom makes the buffers of a collection, if the machine has the memory.
func (t *trainer) makeRoom() error {
	t.step, t.act = newBuffers(t.env)
	s, e := t.spec, t.exp
	rows, c := s.Copies*s.Agents, t.learner.CarryLen()
	if err := rl.Fits(s, e.Learner.CollectFrames()/s.Copies, c+t.build.Context); err != nil {
		return err
	}
	t.x = rl.NewRollout(s, e.Learner.CollectFrames()/s.Copies, c)
	if t.build.Labels {
		t.x.KeepLabels()
	}
	if f := t.build.Context; f > 0 {
		t.informer, t.context = t.module.(explore.Informer), make([]float32, rows*f)
		t.x.KeepContext(f)
	}
	t.dist = rl.NewDist(s, c)
	t.carry = make([]float32, rows*c)
	t.fresh, t.ended = make([]uint8, s.Copies), make([]uint8, s.Copies)
	t.score, t.length = make([]float32, s.Copies), make([]int32, s.Copies)
	t.streams = make([]rng.Rand, rows)
	return nil
}

// close gives back what the graphs and the environment hold.
func (t *trainer) close() {
	if t.first != nil {
		t.first.close()
	}
	t.build.Close()
	envs.Close(t.env)
}

// newBuffers makes the step and action buffers of env.
func newBuffers(env envs.Env) (*envs.Step, *envs.Actions) {
	return envs.NewStep(env.Spec()), envs.NewActions(env.Spec())
}

// iterate is one pass of the outer loop of Algorithm 1.
//
// paper:Algorithm1  collect with r^i added → update actor and critic → update the curiosity module
func (t *trainer) iterate(ctx context.Context) (rl.Scalars, error) {
	if t.learning(t.frames) != t {
		return t.study(ctx)
	}
	scalars, err := t.collect(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.finite(scalars); err != nil {
		return nil, err
	}
	for _, stage := range []func(context.Context, *rl.Rollout) (rl.Scalars, error){t.module.Reward, t.learner.Update, t.module.Update} {
		s, err := stage(ctx, t.x)
		if err != nil {
			return nil, err
		}
		if err := t.finite(s); err != nil {
			return nil, err
		}
		maps.Copy(scalars, s)
	}
	t.record()
	t.iteration++
	t.frames += t.x.T * t.x.E
	return scalars, nil
}

// finite names the first scalar, in alphabetical order, that is no number to go on with.
func (t *trainer) finite(s rl.Scalars) error {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if v := s[name]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s became %g in iteration %d", name, v, t.iteration)
		}
	}
	return nil
}

// collect fills the rollout with T steps of every copy and reports the episodes that ended in it.
func (t *trainer) collect(ctx context.Context) (rl.Scalars, error) {
	for row := range t.streams {
		t.streams[row].Seed(t.exp.Seed, "actions", uint64(t.iteration), uint64(row))
	}
	done, err := t.gather(ctx, t.decide)
	if err != nil {
		return nil, err
	}
	scalars := done.scalars(t.x)
	t.visited.scalar(scalars)
	return scalars, nil
}

// gather fills the rollout with T steps of every copy; act writes the actions of step k into t.act and what belongs to them into
// the rollout.
func (t *trainer) gather(ctx context.Context, act func(k int) error) (done episodes, err error) {
	x := t.x
	x.Clear()
	x.Iteration, x.Frames = t.iteration, t.frames
	for k := range x.T {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		x.See(k, t.step)
		copy(x.Started[k*x.E:], t.fresh)
		copy(x.Carry[k*len(t.carry):], t.carry)
		if err := act(k); err != nil {
			return done, err
		}
		t.env.Step(t.act, t.step)
		t.visited.note()
		t.keep(k)
		t.endEpisodes(k, &done)
		if err := envs.Err(t.env); err != nil {
			return done, err
		}
	}
	x.See(x.T, t.step)
	return done, nil
}

// decide samples the actions of step k, each agent from its own stream.
func (t *trainer) decide(k int) error {
	x, rows := t.x, len(t.streams)
	in := rl.Obs{Obs: t.step.Obs, Cells: t.step.Cells, State: t.step.State, Mask: t.step.Mask, Alive: t.step.Alive, Carry: t.carry,
		Frames: t.frames}
	if err := t.look(&in, t.fresh); err != nil {
		return err
	}
	copy(x.Context[k*len(t.context):], t.context)
	if err := t.module.Behave(t.frames, &in, t.dist); err != nil {
		return err
	}
	for row := range rows {
		x.LogP[k*rows+row] = t.dist.Sample(row, &t.streams[row], t.act)
	}
	copy(x.Importance[k*rows:], t.dist.Importance)
	x.Eps = 0
	if t.dist.Ratio == rl.RatioMixture {
		x.Eps = t.dist.Eps
	}
	copy(t.carry, t.dist.Carry)
	if x.Act.Choice != nil {
		copy(x.Act.Choice[k*rows:], t.act.Choice)
		return nil
	}
	d := t.spec.Act.Dim
	copy(x.Act.Force[k*rows*d:], t.act.Force)
	copy(x.Raw[k*rows*d:], t.dist.Raw)
	return nil
}

// look lets the learner act on what the agents see, and on what an informer tells them; started [E] is 1 where an episode begins.
func (t *trainer) look(in *rl.Obs, started []uint8) error {
	if t.informer != nil {
		if err := t.informer.Inform(in, started, t.context); err != nil {
			return err
		}
		in.Context = t.context
	}
	return t.learner.Act(in, t.dist)
}

// aside lets f look at other episodes from their start.
func (t *trainer) aside(f func() error) error {
	if t.informer == nil {
		return f()
	}
	return t.informer.Aside(f)
}

// keep stores what step k returned.
func (t *trainer) keep(k int) {
	x, s, rows := t.x, t.step, len(t.streams)
	reward := s.Dense
	if t.spec.Sparse {
		reward = s.Sparse
	}
	copy(x.Extrinsic[k*rows:], reward)
	copy(x.Dense[k*rows:], s.Dense)
	copy(x.Score[k*x.E:], s.Score)
	copy(x.Terminated[k*x.E:], s.Terminated)
	copy(x.Truncated[k*x.E:], s.Truncated)
}

// endEpisodes keeps the true last observations of the copies that are done and starts their next episode.
func (t *trainer) endEpisodes(k int, done *episodes) {
	any := false
	for c := range t.ended {
		t.score[c] += t.step.Score[c]
		t.length[c]++
		t.ended[c] = t.step.Terminated[c] | t.step.Truncated[c]
		t.fresh[c] = t.ended[c]
		if t.ended[c] == 0 {
			continue
		}
		any = true
		t.x.End(k, c, t.step)
		if envs.Broken(t.env, c) {
			done.broken++
		} else {
			done.add(t.score[c], t.length[c])
		}
		t.score[c], t.length[c] = 0, 0
		n := len(t.carry) / t.spec.Copies
		clear(t.carry[c*n : (c+1)*n])
	}
	if any {
		t.env.Reset(t.ended, t.step)
	}
}

// episodes sums up the training episodes that ended in a collection.
type episodes struct {
	n, broken     int // to their end; broken off, which are in no mean
	score, length float64
}

func (e *episodes) add(score float32, length int32) {
	e.n++
	e.score += float64(score)
	e.length += float64(length)
}

// scalars are present only where they mean something: a collection without an ended episode has no train_score.
func (e *episodes) scalars(x *rl.Rollout) rl.Scalars {
	out := rl.Scalars{"episodes": float64(e.n)}
	if e.n > 0 {
		out["train_score"] = e.score / float64(e.n)
		out["train_length"] = e.length / float64(e.n)
	}
	if e.broken > 0 {
		out["episodes_broken_off"] = float64(e.broken)
	}
	sum := 0.0
	for _, r := range x.Extrinsic {
		sum += float64(r)
	}
	out["extrinsic"] = sum / float64(len(x.Extrinsic))
	return out
}
