// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs"
)

// Branch makes the experiment that goes on from a run of st, given as ID@FRAMES, with some settings changed. The beginning of
// an ID is enough where no other run's begins alike.
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

// branch is e.Branch with a label that says what differs from the method's defaults and what was before.
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
	budget, err := budgetIn(e.Label(), *e)
	if err != nil {
		return
	}
	if e.Budget != budget.Budget {
		e.Budget.Name = CustomBudget
	}
	if m, err := methodIn(e.Label(), *e); err == nil {
		if d, err := (stored{e: *e}).compare(m, budget); err == nil {
			e.Method = d.label()
		}
	}
}

// Turn returns the experiment that goes on from now, as far as st has it, with the settings of next. Where now is in the
// middle of its training, and next differs in what a fork can change, that is a branch of it; else it is next itself: a run of
// its own, new or stored.
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

// sameShapes reports whether agents of two variants of a task see and do as much.
func sameShapes(a, b envs.Config) (bool, error) {
	var specs [2]*envs.Spec
	for i, cfg := range []envs.Config{a, b} {
		env, err := alone(cfg)
		if err != nil {
			return false, err
		}
		defer envs.Close(env)
		specs[i] = env.Spec()
	}
	x, y := specs[0], specs[1]
	return x.Agents == y.Agents && x.InLen() == y.InLen() && x.State == y.State && x.Act.Len() == y.Act.Len(), nil
}
