// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
)

// Branch makes the experiment that goes on from a run of st, given as ID@FRAMES, with some settings changed. The beginning of
// an ID is enough where no other run's begins alike.
func Branch(st *results.Store, from string, settings []string) (run.Experiment, error) {
	id, frames, ok := strings.Cut(from, "@")
	at, err := strconv.Atoi(strings.ReplaceAll(frames, "_", ""))
	if !ok || err != nil {
		return run.Experiment{}, fmt.Errorf("-fork %s: want ID@FRAMES, for example 0123abcd@300000", from)
	}
	parent, err := Stored(st, id)
	if err != nil {
		return parent, err
	}
	return branch(parent, at, settings)
}

// branch is e.Branch with a label that says what differs from the method's defaults and what was before.
func branch(e run.Experiment, at int, settings []string) (run.Experiment, error) {
	for _, s := range settings {
		if err := allowed(s); err != nil {
			return e, err
		}
	}
	child, err := e.Branch(at, settings...)
	if err != nil {
		return child, err
	}
	return child, relabel(&child)
}

// Stored reads the experiment of a run of st, whose ID may be shortened.
func Stored(st *results.Store, id string) (run.Experiment, error) {
	all, err := st.Find(results.Query{})
	if err != nil {
		return run.Experiment{}, err
	}
	var found []*results.Record
	for _, r := range all {
		if id != "" && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return run.Experiment{}, fmt.Errorf("no run %q in %s: go run ./reproduce status names those that are there", id, st.Dir())
	case 1:
	default:
		return run.Experiment{}, fmt.Errorf("%d runs in %s begin with %q: give more of the ID", len(found), st.Dir(), id)
	}
	var e run.Experiment
	if err := conf.Unmarshal(found[0].Experiment, &e); err != nil {
		return e, fmt.Errorf("run %s is of another version of this program: %w", found[0].ID, err)
	}
	e.Method = found[0].Method
	return e, nil
}

// relabel names a fork after the method that its parts compose, or where none does after the one from which it differs least, with its
// history and the settings that differ; those of a custom budget are compared with the budget from which it differs least.
func relabel(e *run.Experiment) error {
	task, err := FindTask(e.Task.Kind())
	if err != nil {
		return nil // of a task that has no name here: its own label is all there is to say
	}
	i := slices.IndexFunc(Budgets, func(b Budget) bool { return b.Budget.Name == e.Budget.Name })
	if i < 0 {
		var names []string
		for _, b := range Budgets {
			name, err := nearestLabel(*e, task, b)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		e.Method = shortest(names)
		return nil
	}
	if e.Method, err = nearestLabel(*e, task, Budgets[i]); err == nil && e.Budget != Budgets[i].Budget {
		e.Budget.Name = CustomBudget
	}
	return err
}

// nearestLabel is the label of e after the method that its parts compose, or where none does after the one that needs the fewest
// settings beside it; "" if e has a part that is registered nowhere.
func nearestLabel(e run.Experiment, task Task, b Budget) (string, error) {
	all := Methods()
	if i := slices.IndexFunc(all, func(m Method) bool { return m.composes(e) }); i >= 0 {
		return label(e, task, all[i], b)
	}
	var names []string
	for _, m := range all {
		if name, err := label(e, task, m, b); err == nil {
			names = append(names, name)
		}
	}
	return shortest(names), nil
}

// shortest is the name with the fewest settings, the first of equals; "" of none.
func shortest(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return slices.MinFunc(names, func(a, b string) int { return strings.Count(a, "=") - strings.Count(b, "=") })
}

// Turn returns the experiment that goes on from now, as far as st has it, with the settings of next. Where now is in the
// middle of its training, and next differs in what a fork can change, that is a branch of it; else it is next itself: a run of
// its own, new or stored.
func Turn(st *results.Store, now, next run.Experiment) (run.Experiment, error) {
	id, err := now.ID()
	if err != nil {
		return now, err
	}
	settings, err := run.Differences(next, now)
	if err != nil {
		return next, nil // other networks, or another task
	}
	if len(settings) == 0 {
		return now, nil // moved, and moved back
	}
	r, err := st.Get(id)
	if err != nil || r.Complete {
		return next, nil
	}
	saved, err := st.Checkpoint(id)
	if err != nil || saved.Frames == 0 {
		return next, nil // nothing to go on from
	}
	return branch(now, saved.Frames, settings)
}
