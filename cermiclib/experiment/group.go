// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"slices"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// group are agents that are trained together: one learner, one explorer with its memory, one rollout, one set of
// variables. Groups of one task share the environment and nothing else (BenchMARL's groups).
type group struct {
	view      *envs.View
	spec      *envs.Spec // of the view
	seed      uint64     // names the group's random streams and its initial weights
	build     *nn.Build  // with variables of its own
	learner   learn.Learner
	module    explore.Module
	needs     explore.Requirements
	provider  explore.ContextProvider // nil unless actors read a context
	context   []float32               // [E,N,F] of the provider
	step      *envs.Step              // current observations of the group's agents
	act       *envs.Actions
	x         *rl.Rollout
	dist      *rl.Dist
	hidden    []float32 // [E,N,C]
	streams   []rng.Rand
	actionLog []uint8   // [frames,N] every choice so far, if the learner trains on old experience
	returns   []float32 // [E] of the running episodes, mean over agents; nil for the only group
}

// newGroup builds the learner and the explorer of a view. The only group of a task has the experiment's own seed.
func newGroup(e Config, view *envs.View, backend nn.Backend, files string) (_ *group, err error) {
	s := view.Spec
	g := &group{view: view, spec: s, seed: e.Seed}
	if !view.All() {
		g.seed = rng.New(e.Seed, "group "+view.Name).Uint64()
	}
	g.build = &nn.Build{Spec: s, Backend: backend, Store: nn.NewStore(g.seed), Seed: g.seed, Files: files}
	defer func() {
		if err != nil {
			g.build.Close()
		}
	}()
	if c, ok := e.Explore.(explore.Requirer); ok {
		if g.needs, err = c.Requires(g.build); err != nil {
			return nil, err
		}
		g.build.Context = g.needs.Context
	}
	if g.learner, err = e.Learner.Build(g.build, e.Policy); err != nil {
		return nil, err
	}
	if g.module, err = e.Explore.Build(g.build); err != nil {
		return nil, err
	}
	if g.learner == nil || g.module == nil {
		return nil, fmt.Errorf("learner %s or explorer %s: Build returned nil and no error",
			e.Learner.Kind(), e.Explore.Kind())
	}
	if g.needs.Context > 0 {
		var ok bool
		if g.provider, ok = g.module.(explore.ContextProvider); !ok {
			return nil, fmt.Errorf("explorer %s requires a context of %d numbers, but its module is no explore.ContextProvider",
				e.Explore.Kind(), g.needs.Context)
		}
	}
	if _, ok := g.learner.(learn.OffPolicy); ok && s.Act.Choices > 256 { // actionLog has a byte for each
		return nil, fmt.Errorf("%s has %d choices, a value learner can have 256 at most", s.Name, s.Act.Choices)
	}
	return g, nil
}

// allocBuffers makes the buffers of a rollout batch; whole and act belong to the environment.
func (g *group) allocBuffers(frames int, whole *envs.Step, act *envs.Actions) error {
	s := g.spec
	rows, c := s.NumEnvs*s.Agents, g.learner.HiddenLen()
	steps := max(1, frames/s.NumEnvs) // a policy may act in more environments than it was trained on
	if err := rl.Fits(s, steps, c); err != nil {
		return err
	}
	g.step, g.act = g.view.Step(whole), g.view.Actions(act)
	g.x = rl.NewRollout(s, steps, c)
	if l, ok := g.learner.(learn.OffPolicy); ok {
		g.x.Replay = l.Experience()
	}
	if g.needs.Labels {
		g.x.KeepLabels()
	}
	if f := g.needs.Context; f > 0 {
		g.context = make([]float32, rows*f)
		g.x.KeepContext(f)
	}
	g.dist = rl.NewDist(s, c)
	g.hidden = make([]float32, rows*c)
	g.streams = make([]rng.Rand, rows)
	if !g.view.All() {
		g.returns = make([]float32, s.NumEnvs)
	}
	return nil
}

// path is the prefix of the group's variables, scalars and stored parts: "" or "adversary/".
func (g *group) path() string {
	if g.view.All() {
		return ""
	}
	return g.view.Name + "/"
}

// inGroup puts the group's name before an error, if there are others.
func inGroup(view *envs.View, err error) error {
	if view.All() {
		return err
	}
	return fmt.Errorf("group %s: %w", view.Name, err)
}

// reward writes the intrinsic rewards, which must be finite.
func (g *group) reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	s, err := g.module.Reward(ctx, x)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(x.Intrinsic, notFinite); i >= 0 {
		return nil, fmt.Errorf("the intrinsic reward of agent %d in environment %d became %g", i%x.N, i/x.N%x.E,
			x.Intrinsic[i])
	}
	return s, nil
}

// decide samples the actions of step k, each agent from its own stream. frames counts the frames trained so far;
// isFirst [E] is 1 where an episode starts.
func (g *group) decide(k, frames int, isFirst []uint8) error {
	x, rows := g.x, len(g.streams)
	in := seen(g.step, g.hidden)
	in.Frames = frames
	if err := g.forward(&in, isFirst); err != nil {
		return err
	}
	copy(x.Context[k*len(g.context):], g.context)
	if err := g.module.Behave(frames, &in, g.dist); err != nil {
		return err
	}
	for row := range rows {
		x.LogP[k*rows+row] = g.dist.Sample(row, &g.streams[row], g.act)
	}
	copy(x.Importance[k*rows:], g.dist.Importance)
	x.Eps = 0
	if !g.dist.OffPolicy {
		x.Eps = g.dist.Eps
	}
	copy(g.hidden, g.dist.Hidden)
	copy(x.Raw[k*len(g.dist.Raw):], g.dist.Raw)
	return nil
}

// seen returns the observations of the agents at a step, with their policies' states.
func seen(step *envs.Step, hidden []float32) rl.Obs {
	return rl.Obs{Obs: step.Obs, Cells: step.Cells, State: step.State, Mask: step.Mask, Alive: step.Alive, Hidden: hidden,
		Visible: step.Visible, RelPos: step.RelPos}
}

// forward computes the learner's action distributions for the agents' observations; isFirst [E] is 1 where an episode
// starts.
func (g *group) forward(in *rl.Obs, isFirst []uint8) error {
	if g.provider != nil {
		if err := g.provider.ContextFor(in, isFirst, g.context); err != nil {
			return err
		}
		in.Context = g.context
	}
	g.dist.Mask = in.Mask
	return g.learner.Act(in, g.dist)
}

// keep stores the actions of step k and its results.
func (g *group) keep(k int) {
	x := g.x
	x.Record(k, g.act, g.step)
	for c := range g.returns {
		first := (k*x.E + c) * x.N
		for _, r := range x.Extrinsic[first : first+x.N] {
			g.returns[c] += r / float32(x.N)
		}
	}
}

// end keeps the true last observation of environment c, whose episode ended with step k, and clears the state of that
// episode.
func (g *group) end(k, c int) {
	g.x.End(k, c, g.step)
	n := len(g.hidden) / g.spec.NumEnvs
	clear(g.hidden[c*n : (c+1)*n])
	if g.returns != nil {
		g.returns[c] = 0
	}
}
