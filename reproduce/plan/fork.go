// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs"
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
	relabel(&child)
	return child, nil
}

// relabel names a fork by its settings and its history; of a task that has no name here it keeps the label. A changed
// budget becomes a custom one.
func relabel(e *experiment.Config) {
	if budget, err := cermiclib.BudgetOf(*e); err == nil && e.Budget != budget.Budget {
		if e.Budget.Name != cermiclib.CustomBudget {
			e.Method = e.Label() + cermiclib.Description{Base: e.Budget.Name}.String()
		}
		e.Budget.Name = cermiclib.CustomBudget
	}
	if d, err := describe(*e); err == nil {
		e.Method = d.label()
	}
}

// Turn returns the experiment that follows now when its settings become those of next. If now is partly trained in st
// and a fork can change these settings, that is a fork of now; else it is next, a run of its own.
func Turn(st *results.Store, now, next experiment.Config) (experiment.Config, error) {
	id, err := now.ID()
	if err != nil {
		return now, err
	}
	settings, err := experiment.Differences(next, now)
	if err != nil {
		return next, nil // other networks, or another task
	}
	if len(settings) == 0 {
		return now, nil // moved, and moved back
	}
	if same, err := sameShapes(now.Task, next.Task); err != nil || !same {
		return next, err // networks of other sizes
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

// sameShapes reports whether agents of two variants of a task have observations and actions of the same sizes.
func sameShapes(a, b envs.Config) (bool, error) {
	x, err := specWith(a)
	if err != nil {
		return false, err
	}
	y, err := specWith(b)
	if err != nil {
		return false, err
	}
	return x.Agents == y.Agents && x.InLen() == y.InLen() && x.State == y.State && x.Act.Len() == y.Act.Len(), nil
}
