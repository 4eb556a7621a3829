// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/cermiclib/stats"
	"cermic/envs"
	"cermic/envs/rng"
	"cermic/viz"

	"gonum.org/v1/gonum/stat"
)

// Density is a task and method over how densely the reward is paid: in one part, in several, and the dense reward itself.
type Density struct {
	Experiments []run.Experiment
	points      []densityPoint
}

// densityPoint is one place on the axis.
type densityPoint struct {
	label string
	ids   []string // one a seed
}

// DensityAxis lists the experiments with the sparse reward paid in each of the given numbers of parts, then those with the
// dense reward.
func DensityAxis(task, method, budget string, seeds int, parts []int) (*Density, error) {
	d := &Density{}
	add := func(label string, set ...string) error {
		p := densityPoint{label: label}
		for seed := 1; seed <= seeds; seed++ {
			e, err := New(Request{Task: task, Method: method, Budget: budget, Set: set, Seed: uint64(seed)})
			if err != nil {
				return err
			}
			id, err := e.ID()
			if err != nil {
				return err
			}
			d.Experiments, p.ids = append(d.Experiments, e), append(p.ids, id)
		}
		d.points = append(d.points, p)
		return nil
	}
	for _, k := range parts {
		if err := add(fmt.Sprint(k), "task.reward=sparse", fmt.Sprintf("task.milestones=%d", k)); err != nil {
			return nil, err
		}
	}
	return d, add("dense", "task.reward=dense")
}

// Groups are the last scores of the runs that the store has: for each point the mean over seeds with its bootstrap 95 %
// interval, empty where none is complete.
func (d *Density) Groups(st *results.Store) ([]viz.Group, error) {
	g := viz.Group{}
	for _, p := range d.points {
		var scores []float64
		for _, id := range p.ids {
			if r, err := st.Get(id); err == nil && r.Complete {
				scores = append(scores, stats.Mean([][]float64{r.Evals[len(r.Evals)-1].Scores}))
			}
		}
		bar := viz.Bar{Label: p.label, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Published: math.NaN()}
		if len(scores) > 0 {
			i := stats.Bootstrap([][]float64{scores}, stats.Mean, 2000, rng.New(0, "plan/density"))
			bar.Value, bar.Low, bar.High = i.Value, i.Low, i.High
		}
		g.Bars = append(g.Bars, bar)
	}
	return []viz.Group{g}, nil
}

// AgentsTable is what random and scripted play contribute on a task, an agent each, for several numbers of agents: how much of
// a difference between team sizes is the task's own.
func AgentsTable(task string, agents []int, episodes int, seed uint64) (viz.Table, error) {
	t := viz.Table{Title: task + ": score of an episode divided by the number of agents", Header: []string{"agents", "random", "script"},
		Notes: []string{fmt.Sprintf("Mean ± standard deviation over %d episodes.", episodes)}}
	for _, n := range agents {
		holder := struct {
			Task envs.Config `json:"task"`
		}{}
		var err error
		if holder.Task, err = envs.Default(task); err != nil {
			return t, err
		}
		if err := conf.Set(&holder, "task.n_agents", fmt.Sprint(n)); err != nil {
			return t, err
		}
		row := []string{fmt.Sprint(n)}
		for _, player := range []Player{Random, Scripted} {
			p, err := Play(holder.Task, player, episodes, seed)
			if err != nil {
				return t, err
			}
			cell := viz.Missing
			if p != nil {
				for i := range p.Dense {
					p.Dense[i] /= float64(n)
				}
				cell = fmt.Sprintf("%.2f ± %.2f", stat.Mean(p.Dense, nil), stat.StdDev(p.Dense, nil))
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
