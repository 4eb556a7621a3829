// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"fmt"
	"slices"

	"cermic/cermiclib/results"
	"cermic/envs"
)

// coverage counts the visited cells of a task's declared projection, without an effect on training. It is nil for a
// task that declares none.
type coverage struct {
	of     envs.Coverer
	visits results.Visits
	agents int
	cells  []int32 // [T,E,N] in which the agent steps of the last rollout batch ended
}

// newCoverage counts for rollout batches of so many frames. The environment has just been reset.
func newCoverage(env envs.Env, frames int) *coverage {
	of, ok := env.(envs.Coverer)
	if !ok {
		return nil
	}
	p, s := of.Coverage(), env.Spec()
	n := p.Columns * p.Rows
	v := &coverage{of: of, agents: s.Agents, cells: make([]int32, frames*s.Agents), visits: results.Visits{
		Projection: p, Counts: make([]uint64, n), Recent: make([]uint64, n), Bonus: make([]float64, n),
	}}
	if drawn, ok := env.(envs.Scener); ok {
		v.visits.Scene = drawn.Scene(0)
	}
	return v
}

// note keeps the cells in which step k of a rollout batch of e copies left the agents.
func (v *coverage) note(k, e int) {
	if v != nil {
		v.of.Cover(v.cells[k*e*v.agents : (k+1)*e*v.agents])
	}
}

// count counts the noted cells of a rollout batch. It writes into the batch of each group how often training has
// visited the cell where each agent step ended; 0 outside the projection.
func (v *coverage) count(groups []*group) {
	if v == nil {
		return
	}
	clear(v.visits.Recent)
	for _, cell := range v.cells {
		if cell >= 0 {
			v.visits.Counts[cell]++
			v.visits.Recent[cell]++
		}
	}
	for _, g := range groups {
		g.x.Visits = make([]float32, len(g.x.Intrinsic))
		for row := range g.x.Visits {
			if cell := v.cell(g, row); cell >= 0 {
				g.x.Visits[row] = float32(v.visits.Counts[cell])
			}
		}
	}
}

// cell is where row of the rollout batch of g ended, -1 for outside the projection.
func (v *coverage) cell(g *group, row int) int32 {
	return v.cells[row/g.x.N*v.agents+g.view.Agent(row%g.x.N)]
}

// averageBonus records the mean bonus of the agent steps of the rollout batch in each cell.
func (v *coverage) averageBonus(groups []*group) {
	if v == nil {
		return
	}
	clear(v.visits.Bonus)
	for _, g := range groups {
		for row, r := range g.x.Intrinsic {
			if cell := v.cell(g, row); cell >= 0 {
				v.visits.Bonus[cell] += float64(r)
			}
		}
	}
	for cell, n := range v.visits.Recent {
		if n > 0 {
			v.visits.Bonus[cell] /= float64(n)
		}
	}
}

func (v *coverage) snapshot(frames int) *results.Visits {
	if v == nil {
		return nil
	}
	out := v.visits
	out.Frames, out.Counts = frames, slices.Clone(out.Counts)
	out.Recent, out.Bonus = slices.Clone(out.Recent), slices.Clone(out.Bonus)
	return &out
}

func (v *coverage) parts() []part {
	if v == nil {
		return nil
	}
	return []part{
		array("visits", v.visits.Counts), array("visits_recent", v.visits.Recent), array("visits_bonus", v.visits.Bonus),
	}
}

// Visits returns the visits and bonuses of e's run, complete or partial, when it was last saved. While a run trains,
// every results.Event of an iteration carries them.
func Visits(e Config, st *results.Store) (*results.Visits, error) {
	id, err := e.ID()
	if err != nil {
		return nil, err
	}
	saved, err := st.Checkpoint(id)
	if err != nil {
		return nil, e.weightsError(id, st, err)
	}
	env, err := e.withCopies(1).Task.Build(e.Seed, 1)
	if err != nil {
		return nil, err
	}
	defer envs.Close(env)
	env.Reset(nil, envs.NewStep(env.Spec()))
	if err := envs.Err(env); err != nil {
		return nil, err
	}
	v := newCoverage(env, 1)
	if v == nil {
		return nil, fmt.Errorf("run %s on %s has no count of visits", id, e.Task.Kind())
	}
	if err := load(v.parts(), saved.Tensors); err != nil {
		return nil, errUnfit(id, err)
	}
	return v.snapshot(saved.Frames), nil
}
