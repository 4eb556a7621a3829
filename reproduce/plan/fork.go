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
	var known []string
	var found []*results.Record
	for _, r := range all {
		known = append(known, r.ID)
		if id != "" && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return run.Experiment{}, fmt.Errorf("no run %q in %s%s", id, st.Dir(), conf.Near(id, known))
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

// relabel names a fork after the method that its parts compose, with its history and the settings that differ; those of a
// custom budget are compared with the budget from which it differs least.
func relabel(e *run.Experiment) error {
	task, err := FindTask(e.Task.Kind())
	i := slices.IndexFunc(Methods(), func(m Method) bool { return m.composes(*e) })
	if err != nil || i < 0 {
		return nil // of parts that have no name here: its own label is all there is to say
	}
	names := make([]string, len(Budgets))
	for k, b := range Budgets {
		if names[k], err = label(*e, task, Methods()[i], b); err != nil {
			return err
		}
		if b.Budget.Name == e.Budget.Name {
			e.Method = names[k]
			if b.Budget != e.Budget {
				e.Budget.Name = "custom"
			}
			return nil
		}
	}
	e.Method = slices.MinFunc(names, func(a, b string) int { return strings.Count(a, "=") - strings.Count(b, "=") })
	return nil
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
