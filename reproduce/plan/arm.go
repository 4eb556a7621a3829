// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
)

// arm is one of the things that a study compares: the experiments of one label.
type arm struct {
	label string
	es    []run.Experiment // one a seed
}

// complete are those of an arm's runs that st has complete, under its label.
func (a arm) complete(st *results.Store) ([]*results.Record, error) {
	var out []*results.Record
	for _, e := range a.es {
		id, err := e.ID()
		if err != nil {
			return nil, err
		}
		if r, err := st.Get(id); err == nil && r.Complete {
			plain := *r // the store's records are shared
			plain.Method = a.label
			out = append(out, &plain)
		}
	}
	return out, nil
}
