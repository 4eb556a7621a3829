// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Watch plays the first episode of an evaluation with the weights of the first run in gs that has weights in st. A
// sentence names the run and its score. Most committed records have no weights. If no run has any, there are no
// scenes, and the sentence says that.
func Watch(ctx context.Context, st *results.Store, gs []results.Group) (scenes []envs.Scene, about string, err error) {
	rs := results.Flat(gs)
	for _, r := range rs {
		if _, err := st.Weights(r.ID); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		e, err := plan.Stored(st, r.ID)
		if err != nil {
			return nil, "", err
		}
		scenes, eval, err := experiment.Episode(ctx, e, st)
		if err != nil {
			return nil, "", err
		}
		method, _ := cermiclib.CutBase(r.Method)
		return scenes, fmt.Sprintf("%s on %s, seed %d, trained for %s frames: score %s in %d steps", method, r.Task,
			r.Seed, viz.Short(float64(r.Frames)), viz.Short(eval.Scores[0]), eval.Lengths[0]), nil
	}
	if len(rs) == 0 {
		return nil, "There are no such runs here yet.", nil
	}
	return nil, fmt.Sprintf("Stored without weights: %s. "+
		"To watch one, train it again: go run ./reproduce train -again %s.", viz.Count(len(rs), "run"), rs[0].ID), nil
}

// Family are the runs of st that branched off one another with front among them, and front itself. A record without a
// task has none.
func Family(st *results.Store, front *results.Record) ([]results.Group, error) {
	same, err := sameWorld(st, front)
	family := map[string]bool{front.ID: true}
	for grown := true; grown; {
		grown = false
		for _, r := range same {
			parent, _ := r.Fork()
			if parent != "" && family[r.ID] != family[parent] {
				family[r.ID], family[parent], grown = true, true, true
			}
		}
	}
	return inWorld(slices.DeleteFunc(same, func(r *results.Record) bool { return !family[r.ID] })), err
}

// Alike are all runs of st in the same world as front, with its reward and seed, and front itself.
func Alike(st *results.Store, front *results.Record) ([]results.Group, error) {
	same, err := sameWorld(st, front)
	return inWorld(same), err
}

// inWorld groups runs of one world. Labels leave out the world's settings, and the frames unless they alone differ.
func inWorld(same []*results.Record) []results.Group {
	without := []string{"budget.frames"}
	for _, r := range same {
		without = slices.AppendSeq(without, maps.Keys(world(r)))
	}
	return plan.Groups(same, without...)
}

// Moments are the runs of st in the world of e, with its seed and with stored weights, in the order of their frames. A
// run that a fork has left keeps the weights of that moment, so they are the branch points and ends of all runs.
func Moments(st *results.Store, e experiment.Config) ([]*results.Record, error) {
	text, err := conf.Marshal(e)
	if err != nil {
		return nil, err
	}
	all, err := sameWorld(st, &results.Record{Task: e.Task.Kind(), Seed: e.Seed, Experiment: text})
	if err != nil {
		return nil, err
	}
	var saved []*results.Record
	for _, r := range all[:len(all)-1] { // the last is the one asked for
		switch _, err := st.Weights(r.ID); {
		case err == nil:
			saved = append(saved, r)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	slices.SortFunc(saved, func(a, b *results.Record) int {
		return cmp.Or(cmp.Compare(a.Frames, b.Frames), cmp.Compare(a.ID, b.ID))
	})
	return saved, nil
}

// sameWorld are the runs of st with front's task, task settings and seed, then front; none of a record without a task.
func sameWorld(st *results.Store, front *results.Record) ([]*results.Record, error) {
	if front.Task == "" {
		return nil, nil
	}
	all, err := st.Find(results.Query{Task: front.Task, Seeds: []uint64{front.Seed}})
	here := world(front)
	same := slices.DeleteFunc(all, func(r *results.Record) bool { return !maps.Equal(world(r), here) })
	return append(same, front), err
}

// world are the settings of a run's task; none of a run of another program, which is in no world of this one.
func world(r *results.Record) map[string]string {
	values, _ := conf.Values(r.Experiment)
	maps.DeleteFunc(values, func(key, _ string) bool { return !strings.HasPrefix(key, "task.") })
	return values
}
