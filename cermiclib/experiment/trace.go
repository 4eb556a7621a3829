// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Trace plays an episode as Episode does and returns the internals of its explorer at every step. The run may be
// partial; it is not changed.
func Trace(ctx context.Context, e Config, st *results.Store) (*results.Trace, error) {
	return TraceOf(ctx, e, e, st)
}

// TraceOf is Trace with the explorer of another run on the task: e plays, and the explorer of lens rates e's
// observations. Episodes of runs with one seed and as many frames begin alike.
func TraceOf(ctx context.Context, e, lens Config, st *results.Store) (*results.Trace, error) {
	player, err := restored(e, e.withCopies(1), st)
	if err != nil {
		return nil, err
	}
	defer player.close()
	viewer, err := restored(lens, lens.withCopies(1), st)
	if err != nil {
		return nil, err
	}
	defer viewer.close()
	for _, g := range viewer.groups {
		if _, ok := g.module.(explore.Inspector); !ok {
			return nil, fmt.Errorf("%s has no curiosity to look into: choose a run with CERMIC", lens.Label())
		}
	}
	a, b := player.spec, viewer.spec
	if a.Name != b.Name || a.Agents != b.Agents || a.InLen() != b.InLen() || a.Act.Len() != b.Act.Len() {
		return nil, fmt.Errorf("%s on %s and %s on %s differ in observations or actions: choose runs on one task",
			e.Label(), a.Name, lens.Label(), b.Name)
	}
	in := &results.Trace{Task: e.Task.Kind(), Method: e.Label(), Frames: player.frames, Agents: player.spec.Agents}
	xs, err := player.watched(ctx, in)
	if err != nil {
		return nil, err
	}
	for i, g := range viewer.groups {
		if err := g.inspect(ctx, xs[i], in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// inspect fills in the explorer's view of x at the places of the group's agents. Codes of different groups come from
// different encoders.
func (g *group) inspect(ctx context.Context, x *rl.Rollout, into *results.Trace) error {
	own := &results.Trace{}
	if err := g.module.(explore.Inspector).Inspect(ctx, x, own); err != nil {
		return inGroup(g.view, err)
	}
	place := func(row int) int { return into.Row(row/x.N, g.view.Agent(row%x.N)) }
	scatter(&into.Bonus, own.Bonus, into, place)
	scatter(&into.Embed, own.Embed, into, place)
	scatter(&into.Latent, own.Latent, into, place)
	scatter(&into.Predicted, own.Predicted, into, place)
	for i := range own.Graphs {
		own.Graphs[i] = g.wide(own.Graphs[i], into.Agents)
	}
	scatter(&into.Graphs, own.Graphs, into, place)
	return nil
}

// scatter puts values, one an agent step of a group, into their places among all agents. Without values, dst does not
// change.
func scatter[T any](dst *[]T, values []T, in *results.Trace, place func(row int) int) {
	if len(values) > 0 && *dst == nil {
		*dst = make([]T, in.Steps*in.Agents)
	}
	for row, v := range values {
		(*dst)[place(row)] = v
	}
}

// wide is a graph of the group with a node for every agent of the task; agents that are no peers are absent.
func (g *group) wide(graph results.Graph, agents int) results.Graph {
	out := results.Graph{Present: make([]bool, agents), Probability: make([]float64, agents),
		Attention: make([]float64, agents), Advanced: graph.Advanced}
	for j := range graph.Present {
		at := g.view.Agent(j)
		out.Present[at], out.Probability[at], out.Attention[at] = graph.Present[j], graph.Probability[j], graph.Attention[j]
	}
	return out
}

// weightsError is the error of playing e's run if its weights cannot be read. Where the store has only its record, as
// for committed runs, it names the command that trains again and wraps fs.ErrNotExist.
func (e Config) weightsError(id string, st *results.Store, err error) error {
	what := fmt.Sprintf("%s on %s with seed %d, run %s", e.Label(), e.Task.Kind(), e.Seed, id)
	cure := "train it first"
	if r, none := st.Head(id); none == nil && r.Complete {
		cure = "go run ./reproduce train -again " + id + " trains it again"
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no weights here: %s (%w)", what, cure, fs.ErrNotExist)
	}
	return fmt.Errorf("the weights of %s: %w", what, err)
}

// restored builds the experiment as with the last saved weights of e's run.
func restored(e, as Config, st *results.Store) (*trainer, error) {
	id, err := e.ID()
	if err != nil {
		return nil, err
	}
	saved, err := st.Weights(id)
	if err != nil {
		return nil, e.weightsError(id, st, err)
	}
	backend, err := nn.Open()
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(as, backend, st.Dir())
	if err != nil {
		return nil, err
	}
	err = t.restoreWeights(saved)
	for _, g := range t.groups {
		r, recalls := g.module.(explore.Inspector)
		kept, there := saved.Tensors[statePrefix+g.path()+"explorer"]
		if err == nil && recalls && there { // exported weights keep no state
			err = r.Recall(kept.Data)
		}
	}
	if err != nil {
		t.close()
		return nil, errUnfit(id, err)
	}
	t.frames = saved.Frames
	return t, nil
}

// watched plays an episode of the only environment, as evaluations play, into a rollout for each group, and notes
// scenes, labels and score.
func (t *trainer) watched(ctx context.Context, in *results.Trace) ([]*rl.Rollout, error) {
	xs := make([]*rl.Rollout, len(t.groups))
	scenes, eval, err := t.filmed(ctx, func(k int, env envs.Env, step *envs.Step, seats []seat) {
		if k == 0 {
			in.Visible = nil
		}
		for _, y := range step.Visible {
			in.Visible = append(in.Visible, y != 0)
		}
		for i, p := range seats {
			if k == 0 {
				xs[i] = rl.NewRollout(p.spec, env.Spec().Horizon, p.learner.HiddenLen())
				xs[i].KeepLabels()
				xs[i].IsFirst[0] = 1
			} else {
				copy(xs[i].Act.Discrete[(k-1)*len(p.act.Discrete):], p.act.Discrete)
				copy(xs[i].Act.Continuous[(k-1)*len(p.act.Continuous):], p.act.Continuous)
			}
			p.view.Gather(p.step, step)
			xs[i].Observe(k, p.step)
		}
	})
	if err != nil {
		return nil, err
	}
	in.Scenes, in.Score, in.Steps = scenes, eval.Scores[0], eval.Lengths[0]
	in.Visible = in.Visible[:in.Steps*in.Agents*in.Agents]
	for _, x := range xs {
		x.T = in.Steps
	}
	return xs, nil
}
