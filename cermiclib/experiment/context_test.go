// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/envs/envtest/must"
)

// withContext is tiny with actors that read the memory and a bonus that keeps agent steps. Rollout batches of 12 steps end within episodes.
func withContext() Config {
	e := tiny(5)
	l := e.Learner.(learn.MAPPO)
	l.Frames, l.Minibatch, l.Epochs = 60, 60, 1
	c, f := cermic.UCB(), cermic.DefaultElliptical()
	c.Embed, c.Latent, c.Hidden, c.Negatives, c.Steps, c.Minibatch, c.Upper = 8, 8, 8, 2, 2, 20, 8
	f.Reservoir = 50
	c.Memory, c.ActorContext, c.Form = memory.GRU{Embed: 8, Layers: 2, Width: 12, Chunk: 5}, true, f
	e.Learner, e.Explore = l, c
	e.Budget.Frames, e.Budget.EvalEvery, e.Budget.EvalEpisodes = 180, 180, 5
	return e
}

// A run whose actors read the memory is stopped after every iteration, with evaluations in between. It ends with the
// same bytes, and Trace works with its weights.
func TestActorsWithAContextContinueBitExactly(t *testing.T) {
	whole, parts, e := open(t), open(t), withContext()
	want := must.Get(Run(t.Context(), e, whole))(t)
	trainInPieces(t, e, parts)
	sameRecord(t, record(t, whole, want.ID), record(t, parts, want.ID))
	if in := must.Get(Trace(t.Context(), e, parts))(t); len(in.Scenes) != in.Steps+1 {
		t.Errorf("%d scenes of %d steps", len(in.Scenes), in.Steps)
	}
	must.Get(Run(t.Context(), branch(t, e, 60, "explore.int_coef=0.5"), open(t)))(t)
}

// The learner's update does not change the module's variables.
func TestTheActorDoesNotTrainTheModule(t *testing.T) {
	tr := trainerOf(t, withContext())
	must.Get(tr.collect(t.Context()))(t)
	g := tr.groups[0]
	module := func() (all []float32) {
		for _, v := range nn.Variables(g.build.Store, "/cermic") {
			all = append(all, tensors.MustCopyFlatData[float32](v.MustValue())...)
		}
		return all
	}
	before := module()
	must.Get(g.learner.Update(t.Context(), g.x))(t)
	if len(before) == 0 || !slices.Equal(before, module()) {
		t.Error("the learner's update changes the module")
	}
	if slices.Max(g.x.Context) == 0 {
		t.Error("the rollout holds no context")
	}
}
