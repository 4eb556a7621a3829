// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"io/fs"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
)

// arm is one of the things that a study compares: the experiments of one label.
type arm struct {
	label string
	es    []experiment.Config // one a seed
}

// complete are those of an arm's runs that st has complete, under its label.
func (a arm) complete(st *results.Store) (results.Group, error) {
	g := results.Group{Label: a.label}
	for _, e := range a.es {
		id, err := e.ID()
		if err != nil {
			return g, err
		}
		head, err := st.Head(id)
		if err != nil || !head.Complete {
			continue // not there, or to be trained again
		}
		r, err := st.Get(id)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, results.ErrDamaged) {
			continue
		}
		if err != nil {
			return g, err
		}
		g.Runs = append(g.Runs, r)
	}
	return g, g.Check()
}

// unique leaves out experiments that were listed before, under whatever names.
func unique(es []experiment.Config) (out []experiment.Config, err error) {
	seen := map[string]bool{}
	for _, e := range es {
		id, err := e.ID()
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id], out = true, append(out, e)
		}
	}
	return out, nil
}
