// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Watch plays the first episode of an evaluation with the weights of the first of some runs that st has weights of, and
// says in a sentence whose it is and what it scored. Where there are none, as of most committed records, there are no
// scenes, and the sentence says that.
func Watch(ctx context.Context, st *results.Store, gs []results.Group) (scenes []envs.Scene, about string, err error) {
	rs := results.Flat(gs)
	for _, r := range rs {
		if _, err := st.Weights(r.ID); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		e, err := plan.Stored(st, r.ID)
		if err != nil {
			return nil, "", err
		}
		scenes, eval, err := experiment.Episode(ctx, e, st)
		if err != nil {
			return nil, "", err
		}
		return scenes, fmt.Sprintf("%s on %s, seed %d, trained for %s frames: score %s in %d steps", r.Method, r.Task, r.Seed, viz.Short(float64(r.Frames)), viz.Short(eval.Scores[0]), eval.Lengths[0]), nil
	}
	if len(rs) == 0 {
		return nil, "There are no such runs here yet.", nil
	}
	return nil, fmt.Sprintf("Of these %d runs the records are here, without weights. To watch the first one, train it again: go run ./reproduce train -again %s.", len(rs), rs[0].ID), nil
}
