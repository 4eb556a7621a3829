// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"
	"slices"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
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
	changes = ofCERMIC(method, changes)
	for _, k := range parts {
		a.add(fmt.Sprint(k), method, slices.Concat(partsOf(k), changes)...)
	}
	a.add("dense", method, append([]string{"task.reward=dense"}, changes...)...)
	es, err := experiments(a)
	return &Density{es, a}, err
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
	for _, g := range gs {
		bar := meanBar(g.Label, valuesOf(g, of))
		if len(g.Runs) > 0 {
			bar.Method = plan.Groups(g.Runs[:1])[0].Method
		}
		all.Bars = append(all.Bars, bar)
	}
	return []viz.Group{all}, err
}

// valuesOf are the values that runs have, one a seed, without NaN.
func valuesOf(g results.Group, of func(*results.Record) float64) (out []float64) {
	for _, r := range g.Runs {
		if v := of(r); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// meanBar is the mean of seeds with its bootstrap 95 % interval, empty without any.
func meanBar(label string, seeds []float64) viz.Bar {
	bar := viz.Bar{Label: label, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Seeds: seeds}
	if len(seeds) > 0 {
		i := stats.Bootstrap([][]float64{seeds}, stats.Mean, comparisonReps, rng.New(0, "figures/rewarded"))
		bar.Value, bar.Low, bar.High = i.Value, i.Low, i.High
	}
	return bar
}
