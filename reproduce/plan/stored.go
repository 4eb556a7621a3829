// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
)

// Find returns the head of a run of st by its ID, which may be shortened.
func Find(st *results.Store, id string) (*results.Record, error) {
	all, err := st.IDs()
	if err != nil {
		return nil, err
	}
	var found []*results.Record
	for _, known := range all {
		if id == "" || !strings.HasPrefix(known, id) {
			continue
		}
		if r, err := st.Head(known); err == nil {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no run %q in %s: go run ./reproduce status names those that are there", id, st.Dir())
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%d runs in %s begin with %q: give more of the ID", len(found), st.Dir(), id)
}

// Stored returns the experiment of a run of st by its ID, which may be shortened. A part that is not registered here is
// a ForeignError.
func Stored(st *results.Store, id string) (experiment.Config, error) {
	r, err := Find(st, id)
	if err != nil {
		return experiment.Config{}, err
	}
	var e experiment.Config
	if err := conf.Unmarshal(r.Experiment, &e); err != nil {
		if foreign := foreignPart(r); foreign != nil {
			return e, foreign
		}
		return e, fmt.Errorf("run %s is of another version of this program: %w", r.ID, err)
	}
	e.Method = Labelled([]*results.Record{r})[0].Method
	return e, nil
}

// ForeignError is the error for a run with a part that only another program or a notebook registers.
type ForeignError struct {
	Run  string // ID
	Part string // "task", "learner", "policy" or "explorer"
	Kind string // "mine/meet"
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("run %s has the %s %q, which this program does not have: a notebook or another program registers it",
		e.Run, e.Part, e.Kind)
}

// foreignPart returns a ForeignError for the first part of a run that is not registered here, or nil.
func foreignPart(r *results.Record) error {
	type kind struct{ Kind string }
	var e struct{ Task, Learner, Policy, Explore kind }
	if json.Unmarshal(r.Experiment, &e) != nil {
		return nil
	}
	for _, part := range []struct {
		name, kind string
		known      []string
	}{
		{"task", e.Task.Kind, envs.Names()}, {"learner", e.Learner.Kind, conf.Kinds[learn.Config]()},
		{"policy", e.Policy.Kind, conf.Kinds[policy.Config]()}, {"explorer", e.Explore.Kind, conf.Kinds[explore.Config]()},
	} {
		if part.kind != "" && !slices.Contains(part.known, part.kind) {
			return &ForeignError{r.ID, part.name, part.kind}
		}
	}
	return nil
}
