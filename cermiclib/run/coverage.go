// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// coverage counts which cells of a task's declared projection training has visited. It looks at the environment, draws nothing and
// touches nothing, so a run learns the same with it as without. A nil coverage is of a task that declares no projection.
type coverage struct {
	of     envs.Coverer
	about  envs.Projection
	visits []uint64 // [cells] agent steps that ended there
	cells  []int32  // [E,N]
}

// coverageTensor is the name of visits in a checkpoint.
const coverageTensor = "visits"

func newCoverage(env envs.Env) *coverage {
	of, ok := env.(envs.Coverer)
	if !ok {
		return nil
	}
	about, s := of.Coverage(), env.Spec()
	return &coverage{of: of, about: about, visits: make([]uint64, about.Columns*about.Rows), cells: make([]int32, s.Copies*s.Agents)}
}

// note counts the cells in which a step left the agents.
func (v *coverage) note() {
	if v == nil {
		return
	}
	v.of.Cover(v.cells)
	for _, cell := range v.cells {
		if cell >= 0 {
			v.visits[cell]++
		}
	}
}

// scalar adds coverage to out: the share of the cells that any agent has visited since training began.
func (v *coverage) scalar(out rl.Scalars) {
	if v == nil {
		return
	}
	seen := 0
	for _, n := range v.visits {
		if n > 0 {
			seen++
		}
	}
	out["coverage"] = float64(seen) / float64(v.about.Cells())
}

// tensors is what a checkpoint keeps of it.
func (v *coverage) tensors() []results.Tensor {
	if v == nil {
		return nil
	}
	return []results.Tensor{results.NewTensor(statePrefix+coverageTensor, v.visits)}
}

// restore takes in a checkpoint. One that was written before visits were counted has none: counting then starts anew.
func (v *coverage) restore(byName map[string]results.Tensor) error {
	if _, kept := byName[statePrefix+coverageTensor]; v == nil || !kept {
		return nil
	}
	return fill(v.visits, byName, coverageTensor)
}
