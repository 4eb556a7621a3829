// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"

	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// coverage counts which cells of a task's declared projection training has visited. It looks at the environment, draws nothing and
// touches nothing, so a run learns the same with it as without. A nil coverage is of a task that declares no projection.
type coverage struct {
	of     envs.Coverer
	visits results.Visits
	cells  []int32 // [E,N]
}

// visitsTensor is the name of the counts in a checkpoint.
const visitsTensor = "visits"

func newCoverage(env envs.Env) *coverage {
	of, ok := env.(envs.Coverer)
	if !ok {
		return nil
	}
	p, s := of.Coverage(), env.Spec()
	return &coverage{
		of: of, visits: results.Visits{Projection: p, Counts: make([]uint64, p.Columns*p.Rows)}, cells: make([]int32, s.Copies*s.Agents),
	}
}

// note counts the cells in which a step left the agents.
func (v *coverage) note() {
	if v == nil {
		return
	}
	v.of.Cover(v.cells)
	for _, cell := range v.cells {
		if cell >= 0 {
			v.visits.Counts[cell]++
		}
	}
}

// scalar adds coverage to out: the share of the cells that any agent has visited since training began.
func (v *coverage) scalar(out rl.Scalars) {
	if v != nil {
		out["coverage"] = v.visits.Coverage()
	}
}

// snapshot copies the counts, nil if there are none.
func (v *coverage) snapshot(frames int) *results.Visits {
	if v == nil {
		return nil
	}
	out := v.visits
	out.Frames, out.Counts = frames, slices.Clone(out.Counts)
	return &out
}

// visits are those of the environment that t trains in now.
func (t *trainer) visits() *results.Visits { return t.learning(t.frames).visited.snapshot(t.frames) }

// tensors is what a checkpoint keeps of it.
func (v *coverage) tensors() []results.Tensor {
	if v == nil {
		return nil
	}
	return []results.Tensor{results.NewTensor(statePrefix+visitsTensor, v.visits.Counts)}
}

// restore takes in a checkpoint. One that was written before visits were counted has none: counting then starts anew.
func (v *coverage) restore(byName map[string]results.Tensor) error {
	if _, kept := byName[statePrefix+visitsTensor]; v == nil || !kept {
		return nil
	}
	return fill(v.visits.Counts, byName, visitsTensor)
}

// Visits returns how often e's run had visited each cell when it was last saved, and how the task looks at the start of an episode, to draw
// them on. The run may be partial; it is not changed. While a run trains, every results.Event of an iteration carries its visits.
func Visits(e Experiment, st *results.Store) (*results.Visits, envs.Scene, error) {
	id, err := e.ID()
	if err != nil {
		return nil, envs.Scene{}, err
	}
	saved, err := st.Checkpoint(id)
	if err != nil {
		return nil, envs.Scene{}, fmt.Errorf("%s on %s with seed %d has no weights here (%w): train it first", e.Label(), e.Task.Kind(), e.Seed, err)
	}
	shared := e.Task.Shared()
	shared.Copies = 1
	env, err := e.Task.WithShared(shared).Build(e.Seed, 1)
	if err != nil {
		return nil, envs.Scene{}, err
	}
	defer envs.Close(env)
	v := newCoverage(env)
	for _, x := range saved.Tensors {
		if v == nil || x.Name != statePrefix+visitsTensor {
			continue
		}
		if err := fill(v.visits.Counts, map[string]results.Tensor{x.Name: x}, visitsTensor); err != nil {
			return nil, envs.Scene{}, fmt.Errorf("the checkpoint of run %s does not fit this program (%w); remove that run's folder to train it anew", id, err)
		}
		env.Reset(nil, envs.NewStep(env.Spec()))
		var scene envs.Scene
		if s, ok := env.(envs.Scener); ok {
			scene = s.Scene(0)
		}
		return v.snapshot(saved.Frames), scene, envs.Err(env)
	}
	return nil, envs.Scene{}, fmt.Errorf("nobody counted the visits of run %s on %s", id, e.Task.Kind())
}
