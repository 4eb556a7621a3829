// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// branch is e's branch at 400 frames, which must be possible.
func branch(t *testing.T, e Config, at int, set ...string) Config {
	t.Helper()
	return must.Get(e.Branch(at, set...))(t)
}

// stopAt runs e until it has trained so many frames.
func stopAt(t *testing.T, e Config, frames int, st *results.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got, err := Run(ctx, e, st, func(e results.Event) {
		if e.Frames >= frames {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || got.Frames != frames {
		t.Fatalf("stopped at %d frames (%v), want %d", got.Frames, err, frames)
	}
}

// notes runs e to its end and returns its record and its notes.
func notes(t *testing.T, e Config, st *results.Store) (*results.Record, string) {
	t.Helper()
	var told []string
	r := must.Get(Run(t.Context(), e, st, func(e results.Event) { told = append(told, e.Note) }))(t)
	return r, strings.Join(told, "\n")
}

// A fork continues everything that it does not change. Here only the evaluations differ, which are longer. So the
// trained values must be the parent's to the last digit.
func TestAForkGoesOnWhereItsParentWas(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "mappo" && name != "qmix" {
				t.Skip("states of the same kinds as the others'")
			}
			st := open(t)
			whole, _ := notes(t, kind(3), st)
			fork, told := notes(t, branch(t, kind(3), 400, "budget.eval_episodes=9"), st)
			if !strings.Contains(told, "training run "+whole.ID+" again from 0 to 400 frames") {
				t.Errorf("the parent is complete, so it had to be trained again; told:\n%s", told)
			}
			for name, points := range whole.Scalars {
				after := slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return p.Frames <= 400 })
				if !reflect.DeepEqual(after, fork.Scalars[name]) && len(after)+len(fork.Scalars[name]) > 0 {
					t.Errorf("%s is %v, want the parent's %v", name, fork.Scalars[name], after)
				}
			}
			if n := len(fork.Evals); n == 0 || len(fork.Evals[0].Scores) != 9 || fork.Evals[0].Frames <= 400 {
				t.Errorf("evaluations %+v, want 9 episodes each and only after the fork", fork.Evals)
			}
		})
	}
}

func TestAForkIsTheSameFromTheStoreAndFromNothing(t *testing.T) {
	parent := small("mappo-cermic")
	parent.Budget.Frames = 200
	fork := branch(t, parent, 100, "explore.alpha=0.9")
	again := branch(t, fork, 150, "explore.alpha=0.1", "task.package_mass=4")
	stored, empty := open(t), open(t)
	stopAt(t, parent, 100, stored)
	first, told := notes(t, fork, stored)
	if strings.Contains(told, "again") || !strings.Contains(told, "branched off") {
		t.Errorf("the parent's checkpoint was not used:\n%s", told)
	}
	last, _ := notes(t, again, stored)
	if _, told := notes(t, again, empty); strings.Count(told, "again from") != 2 {
		t.Errorf("a fork of a fork in an empty store trains both again; told:\n%s", told)
	}
	sameRecord(t, record(t, stored, last.ID), record(t, empty, last.ID))
	must.Get(Run(t.Context(), fork, empty))(t)
	sameRecord(t, record(t, stored, first.ID), record(t, empty, first.ID))

	whole, _ := notes(t, parent, stored)
	if reflect.DeepEqual(first.Scalars["cermic/loss"][0], whole.Scalars["cermic/loss"][2]) {
		t.Error("α = 0.9 trains as α = 0.2 did")
	}
}

func TestAStoppedForkEndsAsAnUninterruptedOneWhateverBecomesOfItsParent(t *testing.T) {
	if testing.Short() {
		t.Skip("forks are killed in short tests too")
	}
	parent := small("mappo-cermic")
	fork := branch(t, parent, 100, "explore.alpha=0.9")
	whole, parts := open(t), open(t)
	want, _ := notes(t, fork, whole)
	stopAt(t, parent, 100, parts)
	stopAt(t, fork, 150, parts)
	notes(t, parent, parts) // its checkpoint is at its end now
	if _, told := notes(t, fork, parts); strings.Contains(told, "again") || !strings.Contains(told, "going on at 150") {
		t.Errorf("the fork did not go on from its own checkpoint:\n%s", told)
	}
	sameRecord(t, record(t, whole, want.ID), record(t, parts, want.ID))
}

// Without L_explore there is no decoder and no momentum encoder. With it again there is a new decoder, and the momentum
// encoder is a copy of the encoder as it has been trained.
func TestAlphaCanBecomeZeroAndMoreAgain(t *testing.T) {
	parent, st := small("mappo-cermic"), open(t)
	stopAt(t, parent, 100, st)
	without := branch(t, parent, 100, "explore.alpha=0")
	stopAt(t, without, 150, st)
	again := branch(t, without, 150, "explore.alpha=0.5")
	saved := must.Get(st.Checkpoint(idOf(t, without)))(t)
	twins := 0
	for name, x := range must.Get(trainerOf(t, again).fitted(saved))(t).Tensors {
		if strings.Contains(name, "/momentum/") {
			twins++
			original := saved.Tensors[strings.Replace(name, "/momentum/", "/encoder/", 1)]
			if len(original.Data) == 0 || !bytes.Equal(x.Data, original.Data) {
				t.Errorf("%s is no copy of the trained encoder", name)
			}
		}
	}
	if twins == 0 {
		t.Error("the fork has no momentum encoder")
	}
	r, _ := notes(t, again, st)
	if n := len(r.Scalars["cermic/explore"]); n != 2 {
		t.Errorf("L_explore has %d values after its return, want 2", n)
	}
	record, err := st.Get(idOf(t, without))
	if err != nil || len(record.Scalars["cermic/explore"]) != 0 || len(record.Scalars["cermic/loss"]) == 0 {
		t.Errorf("without L_explore: %v (%v)", record.Scalars, err)
	}
}

// idOf is the ID of e.
func idOf(t *testing.T, e Config) string {
	t.Helper()
	return must.Get(e.ID())(t)
}

func TestAForkKnowsItsLineage(t *testing.T) {
	parent := small("mappo-cermic")
	id := idOf(t, parent)
	fork := branch(t, parent, 100, "explore.alpha=0.9", "explore.lr=0.001")
	want := Fork{Parent: id, At: 100, Was: []string{"explore.alpha=0.2", "explore.lr=0.0001"}}
	if len(fork.Forks) != 1 || !reflect.DeepEqual(fork.Forks[0], want) {
		t.Errorf("forks %+v, want %+v", fork.Forks, want)
	}
	if label := fork.Label(); label != "mappo-cermic (explore.alpha=0.2 explore.lr=0.0001 until 100)" {
		t.Errorf("label %q", label)
	}
	if longer := branch(t, parent, 250, "budget.frames=5000"); longer.Label() != "mappo-cermic (continued from 250)" {
		t.Errorf("gone on beyond its end: label %q", longer.Label())
	}
	text := must.Get(conf.Marshal(fork))(t)
	var read Config
	must.Do(t, conf.Unmarshal(text, &read))
	back := must.Get(read.Parent())(t)
	if again, err := back.ID(); err != nil || again != id {
		t.Errorf("undoing the fork gives run %s (%v), want %s", again, err, id)
	}
	read.Forks[0].Parent = "0123456789abcdef"
	must.Refuse(t, read.Validate(), "names run 0123456789abcdef as its parent")
}

func TestImpossibleForksAreRefusedInASentence(t *testing.T) {
	e, st := small("mappo-cermic"), open(t)
	for want, try := range map[string]struct {
		at  int
		set string
	}{
		"use 100 or 150":                               {110, "explore.alpha=0.5"},
		"trains from 0 to 250":                         {300, "explore.alpha=0.5"},
		"set budget.frames as well":                    {250, "explore.alpha=0.5"},
		"changes at least one setting":                 {100, "explore.alpha=0.2"},
		"cannot change explore.memory":                 {100, "explore.memory=gru"},
		"cannot change how many parallel environments": {100, "task.copies=10"},
		"did you mean explore.alpha":                   {100, "explore.alfa=1"},
		"not by \"explore.alpha\"":                     {100, "explore.alpha"},
		"not by \"forks=[]\"":                          {100, "forks=[]"},
		"alpha is -1":                                  {100, "explore.alpha=-1"},
		"cannot change task,":                          {100, "task=vmas/wheel"},
		"undoing it gives":                             {-1, ""},
		"fork with other settings":                     {-2, ""},
	} {
		var err error
		switch try.at {
		case -1:
			bad := branch(t, e, 100, "explore.alpha=0.5")
			bad.Forks[0].Was = []string{"explore.alpha=0.3"}
			err = bad.Validate()
		case -2:
			_, err = Run(t.Context(), branch(t, e, 100, "explore.d_x=9"), st)
		default:
			_, err = e.Branch(try.at, try.set)
		}
		must.Refuse(t, err, want)
	}
	if left, err := filepath.Glob(filepath.Join(st.Dir(), "*", "checkpoint*")); err != nil || len(left) > 0 {
		t.Errorf("a fork that cannot be left %v (%v)", left, err)
	}
}
