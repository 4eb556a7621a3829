// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
)

// Branch returns the experiment that forks a run of st, given as ID@FRAMES, with changed settings. The ID may be
// shortened while it stays unique.
func Branch(st *results.Store, from string, settings []string) (experiment.Config, error) {
	id, frames, ok := strings.Cut(from, "@")
	at, err := strconv.Atoi(strings.ReplaceAll(frames, "_", ""))
	if !ok || err != nil {
		return experiment.Config{}, fmt.Errorf("-fork %s: want ID@FRAMES, for example 0123abcd@300000", from)
	}
	parent, err := Stored(st, id)
	if err != nil {
		return parent, err
	}
	return branch(parent, at, settings)
}

// branch is e.Branch with a label that lists the changes and the history.
func branch(e experiment.Config, at int, settings []string) (experiment.Config, error) {
	for _, s := range settings {
		if err := allowed(s); err != nil {
			return e, err
		}
	}
	child, err := e.Branch(at, settings...)
	if err != nil {
		return child, err
	}
	relabel(&child, e.Label())
	return child, nil
}

// relabel names a fork by its settings and its history, as a variant of the method and budget in the parent's label.
// It keeps the label if the task has no name here. A changed budget becomes a custom one.
func relabel(e *experiment.Config, parent string) {
	named := *e
	named.Method = parent
	b, err := cermiclib.BudgetOf(named)
	if name := e.Budget.Name; err == nil && e.Budget != b.Budget && name != cermiclib.CustomBudget {
		base := cermiclib.Description{Base: name}.String()
		e.Method, named.Method = e.Label()+base, parent+base
		last := &e.Forks[len(e.Forks)-1]
		last.Was = append(last.Was, "budget.name="+name)
		e.Budget.Name, named.Budget.Name = cermiclib.CustomBudget, cermiclib.CustomBudget
	}
	if d, err := describe(named); err == nil {
		e.Method = d.String()
	}
}

// Turn returns the experiment that follows now when its settings change to next's. If now is partly trained in st and
// a fork can change these settings, it is a fork of now. Otherwise it is next, a run of its own. A fork that has not
// trained yet stands for its parent.
func Turn(st *results.Store, now, next experiment.Config) (experiment.Config, error) {
	id, err := now.ID()
	if err != nil {
		return now, err
	}
	r, err := st.Get(id)
	complete, at := err == nil && r.Complete, 0
	if saved, err := st.Checkpoint(id); err == nil {
		at = saved.Frames
	}
	if n := len(now.Forks); n > 0 && !complete && at <= now.Forks[n-1].At {
		at = 0
		if parent, err := Stored(st, now.Forks[n-1].Parent); err == nil {
			at, now = now.Forks[n-1].At, parent
		}
	}
	settings, ok := changes(now, next)
	switch {
	case ok && len(settings) == 0:
		return now, nil // moved, and moved back
	case !ok || complete || at == 0: // nothing to go on from
		return next, nil
	}
	return forkOr(next, now, at, settings), nil
}

// Continue returns the experiment that continues run id of st with the settings of next and the run's seed. It is next,
// a run from scratch, if id is empty, next is not longer, or a fork cannot change these settings.
func Continue(st *results.Store, id string, next experiment.Config) (experiment.Config, error) {
	if id == "" {
		return next, nil
	}
	parent, err := Stored(st, id)
	if err != nil || next.Budget.Frames <= parent.Budget.Frames {
		return next, err
	}
	from := next
	from.Seed, from.Budget.Name = parent.Seed, parent.Budget.Name // branch names the budget
	settings, ok := changes(parent, from)
	if !ok {
		return next, nil
	}
	return forkOr(next, parent, parent.Budget.Frames, settings), nil
}

// changes lists the settings of next that differ in now. ok is false if they make other parts or, in the known cases,
// networks of other sizes.
func changes(now, next experiment.Config) (settings []string, ok bool) {
	settings, err := experiment.Differences(next, now)
	context := func(set string) bool { return strings.HasPrefix(set, "explore.actor_uses_context=") } // an actor's input
	return settings, err == nil && !slices.ContainsFunc(settings, context)
}

// forkOr forks now at a number of frames. It is next where a fork cannot change the settings, such as the number of
// parallel environments.
func forkOr(next, now experiment.Config, at int, settings []string) experiment.Config {
	if child, err := branch(now, at, settings); err == nil {
		return child
	}
	return next
}
