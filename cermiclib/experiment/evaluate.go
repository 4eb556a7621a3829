// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/rng"
)

// watcher sees every step of an evaluation's environments, after reset (t = 0) and after each action, which seats hold.
type watcher func(t int, env envs.Env, s *envs.Step, seats []seat)

// evaluate plays episodes in fresh environments without the explorer. Scores are the benchmark's metric over its own
// horizon, sparse returns those over the horizon of training. Other episodes replace aborted ones, up to twice as many.
func (t *trainer) evaluate(ctx context.Context, watch ...watcher) (*results.Eval, error) {
	out, begun, want := &results.Eval{Frames: t.frames}, 0, t.exp.Budget.EvalEpisodes
	if !t.groups[0].view.All() {
		out.Groups = map[string][]float64{}
	}
	for round := uint64(0); len(out.Scores) < want; round++ {
		seed := rng.New(t.exp.Seed, "evaluation", uint64(t.frames), round).Uint64()
		env, err := t.exp.Task.Build(seed, 0)
		if err != nil {
			return nil, err
		}
		begun += min(env.Spec().NumEnvs, want-len(out.Scores))
		err = t.aside(func() error { return t.play(ctx, env, round, out, watch) })
		envs.Close(env)
		if err != nil {
			return nil, err
		}
		if aborted := begun - len(out.Scores); aborted > want {
			return nil, fmt.Errorf("%d episodes of %s were aborted in an evaluation of %d", aborted, env.Spec().Name, want)
		}
		if len(out.Scores) > 0 {
			watch = nil // it has seen a round that counts
		}
	}
	all := append(slices.Collect(maps.Values(out.Groups)), out.Scores, out.Early, out.Sparse)
	for _, score := range slices.Concat(all...) {
		if notFinite(score) {
			return nil, fmt.Errorf("an episode's score became %g in the evaluation at %d frames", score, t.frames)
		}
	}
	return out, nil
}

// play runs one episode in every environment of env until the wanted ones are over, in the first environments. It
// appends the ones that were not aborted to out.
func (t *trainer) play(ctx context.Context, env envs.Env, round uint64, out *results.Eval, watch []watcher) error {
	s := env.Spec()
	step, act := envs.NewStep(s), envs.NewActions(s)
	seats, isFirst := t.seats(step, act), slices.Repeat([]uint8{1}, s.NumEnvs)
	t.seedEvaluation(round, s.NumEnvs)
	env.Reset(nil, step)
	if err := envs.Err(env); err != nil {
		return err
	}
	for _, w := range watch {
		w(0, env, step, seats)
	}
	n := min(s.NumEnvs, t.exp.Budget.EvalEpisodes-len(out.Scores))
	episodes, over := make([]evalEpisode, n), make([]bool, n)
	for k := 0; slices.Contains(over, false) && k < s.Horizon; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := checkPlayed(env, step, over, k); err != nil {
			return err
		}
		if err := t.takeTurns(seats, step, act, isFirst); err != nil {
			return err
		}
		clear(isFirst)
		env.Step(act, step)
		for _, p := range seats {
			p.view.Gather(p.step, step)
		}
		for _, w := range watch {
			w(k+1, env, step, seats)
		}
		for c := range episodes {
			if !over[c] {
				episodes[c].add(k, c, s, step, seats)
				over[c] = step.Terminated[c]|step.Truncated[c] != 0
				episodes[c].aborted = over[c] && envs.Aborted(env, c)
			}
		}
	}
	for _, e := range episodes {
		if !e.aborted {
			e.report(s, seats, out)
		}
	}
	return nil
}

// checkPlayed names what is wrong with step k of an evaluation, in the environments whose episode is not over.
func checkPlayed(env envs.Env, step *envs.Step, over []bool, k int) error {
	s := env.Spec()
	if err := envs.CheckStep(env, step, over); err != nil {
		return fmt.Errorf("%s, step %d of an evaluation: %w", s.Name, k, err)
	}
	n := s.Agents * s.ObsLen()
	for c := range over {
		if over[c] {
			continue
		}
		if err := checkFinite(s, step.Obs[c*n:(c+1)*n], nil); err != nil {
			return fmt.Errorf("%w in environment %d at step %d of an evaluation, want a finite number", err, c, k)
		}
	}
	return nil
}

// evalEpisode sums up an episode so far.
type evalEpisode struct {
	score, early, sparse float64
	returns              []float64 // [seats] dense, mean over their agents, within the benchmark's horizon
	length               int
	aborted              bool
}

// add adds step k of environment c.
func (e *evalEpisode) add(k, c int, s *envs.Spec, step *envs.Step, seats []seat) {
	if e.length++; e.returns == nil {
		e.returns = make([]float64, len(seats))
	}
	if k < s.EvalHorizon {
		e.score += float64(step.Score[c])
		for i, p := range seats {
			e.returns[i] += teamMean(p.step.Dense, c, p.spec.Agents)
		}
	}
	if k < s.Early {
		e.early += float64(step.Score[c])
	}
	e.sparse += teamMean(step.Sparse, c, s.Agents)
}

// report appends the episode to out.
func (e *evalEpisode) report(s *envs.Spec, seats []seat, out *results.Eval) {
	out.Scores = append(out.Scores, e.score)
	if s.Early > 0 {
		out.Early = append(out.Early, e.early)
	}
	out.Sparse = append(out.Sparse, e.sparse)
	if s.HasSuccess() {
		success := 0.0
		if s.Succeeds(e.sparse) {
			success = 1
		}
		out.Success = append(out.Success, success)
	}
	out.Lengths = append(out.Lengths, e.length)
	for i, p := range seats {
		if !p.view.All() {
			out.Groups[p.view.Name] = append(out.Groups[p.view.Name], e.returns[i])
		}
	}
}

// seat is a group in an environment that it does not train in: an evaluation's.
type seat struct {
	*group
	step   *envs.Step // its agents' part of the step there
	act    *envs.Actions
	hidden []float32
}

// seats are the seats of all groups in environments that have just begun; step and act are the environment's.
func (t *trainer) seats(step *envs.Step, act *envs.Actions) []seat {
	out := make([]seat, len(t.groups))
	for i, g := range t.groups {
		out[i] = seat{group: g, step: g.view.Step(step), act: g.view.Actions(act), hidden: make([]float32, len(g.hidden))}
	}
	return out
}

// takeTurns lets every group choose its actions for the observations in step; isFirst [E] is 1 where an episode starts.
func (t *trainer) takeTurns(seats []seat, step *envs.Step, act *envs.Actions, isFirst []uint8) error {
	for _, p := range seats {
		p.view.Gather(p.step, step)
		in := seen(p.step, p.hidden)
		if err := p.forward(&in, isFirst); err != nil {
			return err
		}
		for row := range p.spec.NumEnvs * p.spec.Agents {
			if t.exp.Budget.Sampled {
				p.dist.Draw(row, &p.streams[row], p.act)
			} else {
				p.dist.Mode(row, p.act)
			}
		}
		copy(p.hidden, p.dist.Hidden)
		p.view.Act(act, p.act)
	}
	return nil
}

// seedEvaluation names the streams of a round of an evaluation, one an agent. Training streams are named anew before
// each rollout batch.
func (t *trainer) seedEvaluation(round uint64, copies int) {
	for _, g := range t.groups {
		for row := range g.streams[:copies*g.spec.Agents] {
			g.streams[row].Seed(g.seed, "evaluation's actions", uint64(t.frames), round, uint64(row))
		}
	}
}

// teamMean is the mean of v [E,N] over the n agents of environment c.
func teamMean(v []float32, c, n int) float64 {
	sum := 0.0
	for _, x := range v[c*n : (c+1)*n] {
		sum += float64(x)
	}
	return sum / float64(n)
}

// Episode plays the first episode of an evaluation that is not aborted, with the last saved weights of e's run. It
// returns the scenes, one a step and the reset first, and the score. The run may be partial; it is not changed.
func Episode(ctx context.Context, e Config, st *results.Store) ([]envs.Scene, *results.Eval, error) {
	t, err := restored(e, e.withCopies(1), st)
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	return t.filmed(ctx)
}

// Untrained is Episode with e's initial weights, in the episode that Episode plays when e's run is complete.
// st has the weights of a pre-trained memory.
func Untrained(ctx context.Context, e Config, st *results.Store) ([]envs.Scene, *results.Eval, error) {
	backend, err := nn.Open()
	if err != nil {
		return nil, nil, err
	}
	t, err := newTrainer(e.withCopies(1), backend, st.Dir())
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	t.frames = e.end() // names the episode
	return t.filmed(ctx)
}

// filmed plays an episode of the only environment. watch sees it as well.
func (t *trainer) filmed(ctx context.Context, watch ...watcher) ([]envs.Scene, *results.Eval, error) {
	if _, ok := t.env.(envs.Scener); !ok {
		return nil, nil, fmt.Errorf("%s cannot be drawn", t.exp.Task.Kind())
	}
	t.exp.Budget.EvalEpisodes = 1
	var f film
	eval, err := t.evaluate(ctx, append(watch, f.watch)...)
	return f.scenes, eval, err
}

// film is an evaluation's episode in its first environment; without scenes if the task cannot be drawn.
type film struct {
	scenes []envs.Scene
	over   bool
}

// watch is a watcher. An episode that follows an aborted one replaces it.
func (f *film) watch(k int, env envs.Env, step *envs.Step, _ []seat) {
	if k == 0 {
		*f = film{}
	}
	if drawn, ok := env.(envs.Scener); ok && !f.over {
		f.scenes = append(f.scenes, drawn.Scene(0))
		f.over = k > 0 && step.Terminated[0]|step.Truncated[0] != 0
	}
}

// Evaluate plays the evaluation of the experiment as with the last saved weights of e's run. as may be e, or differ
// from it by more episodes, sampled actions or another score of the task. The run may be partial; it is not changed.
func Evaluate(ctx context.Context, e, as Config, st *results.Store) (*results.Eval, error) {
	t, err := restored(e, as, st)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return t.evaluate(ctx)
}
