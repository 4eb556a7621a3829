// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

// Moments are the runs of st in the world of e, with its seed, whose weights are there, in the order of their frames.
// A run that a fork has left keeps the weights of that moment, so they are the branch points of all runs and their ends.
func Moments(st *results.Store, e experiment.Config) ([]*results.Record, error) {
	text, err := conf.Marshal(e)
	if err != nil {
		return nil, err
	}
	front := &results.Record{Task: e.Task.Kind(), Seed: e.Seed, Experiment: text}
	all, err := sameWorld(st, front)
	if err != nil {
		return nil, err
	}
	var saved []*results.Record
	for _, r := range all {
		if r == front {
			continue
		}
		switch _, err := st.Weights(r.ID); {
		case err == nil:
			saved = append(saved, r)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	slices.SortFunc(saved, func(a, b *results.Record) int {
		return cmp.Or(cmp.Compare(a.Frames, b.Frames), cmp.Compare(a.ID, b.ID))
	})
	return saved, nil
}
