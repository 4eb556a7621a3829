// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/policy"
	"cermic/envs/vmas"
)

// withContext is tiny with actors that read a memory, whose past goes on from one rollout batch of 12 steps to the next and must not mix with
// that of evaluations.
func withContext(mem memory.Config) Config {
	e := tiny(5)
	l := e.Learner.(learn.MAPPO)
	l.Frames, l.Minibatch, l.Epochs = 60, 60, 1
	c := cermic.Default()
	c.Embed, c.Latent, c.Hidden, c.Negatives, c.Steps, c.Minibatch, c.Upper = 8, 8, 8, 2, 2, 20, 8
	c.Memory, c.ActorContext = mem, true
	e.Learner, e.Explore = l, c
	e.Budget.Frames, e.Budget.EvalEvery, e.Budget.EvalEpisodes = 180, 180, 5
	return e
}

// smallGRU is a memory of few numbers.
func smallGRU() memory.GRU { return memory.GRU{Embed: 8, Layers: 2, Width: 12, Chunk: 5} }

// TestActorsThatReadAMemoryGoOnExactly: stopped after every iteration, with evaluations in between, a run ends with the same bytes. Package
// cermic has the same of what is told by every memory.
func TestActorsThatReadAMemoryGoOnExactly(t *testing.T) {
	whole, parts, e := open(t), open(t), withContext(smallGRU())
	want, err := Run(t.Context(), e, whole)
	if err != nil {
		t.Fatal(err)
	}
	trainInPieces(t, e, parts)
	sameRecord(t, record(t, whole, want.ID), record(t, parts, want.ID))
	if _, _, err := Episode(t.Context(), e, parts); err != nil {
		t.Error(err)
	}
	in, err := Trace(t.Context(), e, parts)
	if err != nil || len(in.Scenes) != in.Steps+1 {
		t.Errorf("%v", err)
	}
}

// TestReadingAMemoryIsASettingOfItsOwn: with actor_uses_context off, a run's experiment and record are what they are
// without the setting.
func TestReadingAMemoryIsASettingOfItsOwn(t *testing.T) {
	on := withContext(memory.MLP{Embed: 8, Hidden: 8, Width: 12})
	off := on
	c := off.Explore.(cermic.Config)
	c.ActorContext = false
	off.Explore = c
	a, errA := Run(t.Context(), on, open(t))
	b, errB := Run(t.Context(), off, open(t))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.ID == b.ID || strings.Contains(string(b.Experiment), "actor_uses_context") || !strings.Contains(string(a.Experiment), "actor_uses_context") {
		t.Errorf("%s\n%s", a.Experiment, b.Experiment)
	}
	if x, y := a.Scalars["actor_grad_norm"][0].Value, b.Scalars["actor_grad_norm"][0].Value; x == y {
		t.Errorf("both actors have a gradient of %g", x)
	}
}

func TestWhereActorsCannotReadAMemoryARunIsRefused(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"qmix": func(e *Config) {
			e.Task, e.Learner = e.Task.(vmas.Balance).WithDiscrete(vmas.Product9), tinyQ(1).Learner
		},
		"policy cpm": func(e *Config) { e.Policy = policy.DefaultCPM() },
	} {
		e := withContext(smallGRU())
		change(&e)
		if _, err := Run(t.Context(), e, open(t)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want a sentence with %s", err, want)
		}
	}
}
