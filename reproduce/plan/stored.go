// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

// Find returns the head of a run of st by its ID, which may be shortened.
func Find(st *results.Store, id string) (*results.Record, error) {
	all, err := st.IDs()
	if err != nil {
		return nil, err
	}
	var found []*results.Record
	var unread error
	for _, known := range all {
		if id == "" || !strings.HasPrefix(known, id) {
			continue
		}
		r, err := st.Head(known)
		if err != nil {
			unread = fmt.Errorf("run %s cannot be read: %w", known, err)
			continue
		}
		found = append(found, r)
	}
	switch {
	case len(found) == 0 && unread != nil:
		return nil, unread
	case len(found) == 0:
		return nil, fmt.Errorf("no run %q in %s: go run ./reproduce status names those that are there", id, st.Dir())
	case len(found) == 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%d runs in %s begin with %q: give more of the ID", len(found), st.Dir(), id)
}

// Stored returns the experiment of a run of st by its ID, which may be shortened.
func Stored(st *results.Store, id string) (experiment.Config, error) {
	r, err := Find(st, id)
	if err != nil {
		return experiment.Config{}, err
	}
	e, err := experiment.Of(r)
	if err != nil {
		return e, fmt.Errorf("run %s cannot be read by this program, since a notebook or another version of it "+
			"made the run: %w", r.ID, err)
	}
	e.Method = Labelled([]*results.Record{r})[0].Method
	return e, nil
}

// Evaluation returns the experiment of a run of st and a copy of it with changed settings of the task and of
// evaluations. The run's ID may be shortened.
func Evaluation(st *results.Store, id string, settings []string) (trained, as experiment.Config, err error) {
	if trained, err = Stored(st, id); err != nil {
		return trained, as, err
	}
	as = trained
	for _, assignment := range settings {
		if err := allowed(assignment); err != nil {
			return trained, as, err
		}
		key, value, _ := strings.Cut(assignment, "=")
		key = strings.TrimSpace(key)
		if !strings.HasPrefix(key, "task.") && key != "budget.eval_episodes" && key != "budget.sampled" {
			return trained, as, fmt.Errorf("-set %s changes the training; an evaluation reads budget.eval_episodes, "+
				"budget.sampled and the settings of the task", key)
		}
		if err := conf.Set(&as, key, value); err != nil {
			return trained, as, err
		}
	}
	return trained, as, as.Validate()
}
