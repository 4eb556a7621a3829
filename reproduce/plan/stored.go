// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
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

// Stored returns the experiment of a run of st by its ID, which may be shortened.
func Stored(st *results.Store, id string) (experiment.Config, error) {
	r, err := Find(st, id)
	if err != nil {
		return experiment.Config{}, err
	}
	e, err := experiment.Of(r)
	if err != nil {
		return e, fmt.Errorf("run %s cannot be read by this program, since a notebook or another version of it made the run: %w",
			r.ID, err)
	}
	e.Method = Labelled([]*results.Record{r})[0].Method
	return e, nil
}
