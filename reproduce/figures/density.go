// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Density is a task and method over the density of its reward: one reward at success, k partial rewards, and the dense
// reward itself.
type Density struct {
	Experiments []experiment.Config
	arms        arms // by the number of parts
}

// DensityAxis lists the experiments with the sparse reward in each of the given numbers of partial rewards, then those
// with the dense reward; changes, each "key=value" as for -set, are of a method with CERMIC, as in the paper's tables.
func DensityAxis(task, method, budget string, seeds int, parts []int, changes ...string) (*Density, error) {
	a := arms{task: task, budget: budget, seeds: seeds}
	if err := a.addParts(method, parts, changes...); err != nil {
		return nil, err
	}
	if err := a.add("dense", method, append([]string{"task.reward=dense"}, ofCERMIC(method, changes)...)...); err != nil {
		return nil, err
	}
	es, err := experiments(a.list)
	return &Density{es, a}, err
}

// addParts lists the experiments of a method for each number of partial rewards.
func (a *arms) addParts(method string, parts []int, changes ...string) error {
	for _, k := range parts {
		if err := a.add(fmt.Sprint(k), method, append([]string{"task.reward=sparse", fmt.Sprintf("task.milestones=%d", k)}, ofCERMIC(method, changes)...)...); err != nil {
			return err
		}
	}
	return nil
}

// ofCERMIC are changes for a method with CERMIC, none for another one.
func ofCERMIC(method string, changes []string) []string {
	if m, err := paper.FindMethod(method); err == nil && m.Group != paper.Ours {
		return nil
	}
	return changes
}

// Scores are the last scores of the runs that the store has: for each point the mean over seeds with its bootstrap 95 %
// interval, empty where none is complete.
func (d *Density) Scores(st *results.Store) ([]viz.Group, error) {
	return d.bars(st, (*results.Record).Score)
}

// Successes are the shares of episodes of the last evaluation that met the sparse goal, likewise: the benchmark's score
// may count other things, too.
func (d *Density) Successes(st *results.Store) ([]viz.Group, error) { return d.bars(st, lastSuccess) }

func (d *Density) bars(st *results.Store, of func(*results.Record) float64) ([]viz.Group, error) {
	all := viz.Group{}
	gs, err := complete(st, d.arms.list)
	if err != nil {
		return nil, err
	}
	for _, g := range gs {
		var values []float64
		for _, r := range g.Runs {
			if v := of(r); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		bar := meanBar(g.Label, values, rng.New(0, "plan/density"))
		if len(values) > 0 {
			bar.Method = plan.Groups(g.Runs[:1])[0].Method
		}
		all.Bars = append(all.Bars, bar)
	}
	return []viz.Group{all}, nil
}

// meanBar is the mean of seeds with its bootstrap 95 % interval, empty without any.
func meanBar(label string, seeds []float64, r *rng.Rand) viz.Bar {
	bar := viz.Bar{Label: label, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Seeds: seeds}
	if len(seeds) > 0 {
		i := stats.Bootstrap([][]float64{seeds}, stats.Mean, 2000, r)
		bar.Value, bar.Low, bar.High = i.Value, i.Low, i.High
	}
	return bar
}
