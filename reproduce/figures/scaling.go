// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// machine is something that runs could be trained on.
type machine struct {
	name string
	runs float64 // at the same time, each as fast as one run here
}

// machines are this one and larger ones, extrapolated: k times the cores train k runs at a time, none slower.
func machines(nodes int) []machine {
	here, many := runtime.NumCPU(), 16
	more := max(1, float64(many)/float64(here))
	return []machine{
		{fmt.Sprintf("%d cores, here", here), 1},
		{fmt.Sprintf("%d cores", many), more},
		{fmt.Sprintf("%d nodes of %d cores", nodes, many), more * float64(nodes)},
	}
}

const extrapolated = "Measured is one run at a time on this machine; where no run of a method has been trained here, " +
	"its rate is that of records from another machine, or is estimated from its slowdown against MAPPO at another " +
	"budget. The columns for more cores are extrapolated: a machine with eight times the cores trains eight runs at a " +
	"time, none slowing another down, and takes no less than the longest run. reproduce/PERFORMANCE.md has " +
	"measurements of a GPU."

// Overview lists the remaining cost of every table of results at every budget, on this machine and, extrapolated, on
// others. nodes is the size of the cluster.
func Overview(st *results.Store, seeds, nodes int) (viz.Table, error) {
	t := viz.Table{Header: []string{"table", "budget", "runs", "done", "frames to go", "rates known"}}
	where := machines(nodes)
	t.Header = append(t.Header, mapped(where, func(m machine) string { return m.name })...)
	known, err := plan.NewRates(st)
	if err != nil {
		return t, err
	}
	for _, table := range paper.Benchmarks {
		for _, budget := range cermiclib.Presets {
			es, _ := plan.Benchmark(table, budget.Budget.Name, seeds)
			costs, err := plan.CostsAt(known, es, st)
			if err != nil {
				return t, err
			}
			t.Rows = append(t.Rows, overviewRow(table.Name, budget.Budget.Name, costs, where))
		}
	}
	t.Notes = []string{extrapolated, "≥: without the methods that have no rate yet; a first run gives them one. " +
		"Tasks with image observations, which take many times as long, have rates of their own."}
	return t, nil
}

// overviewRow is one table at one budget.
func overviewRow(table, budget string, costs []plan.Cost, where []machine) []string {
	var runs, done, frames, rated int
	var left, longest time.Duration
	for _, c := range costs {
		runs, done, frames, left = runs+c.Runs, done+c.Done, frames+c.Frames, left+c.Takes(c.Frames)
		if c.FPS > 0 || c.Frames == 0 {
			rated++
		}
		longest = max(longest, c.Takes(c.Longest))
	}
	row := []string{table, budget, fmt.Sprint(runs), fmt.Sprint(done), viz.Short(float64(frames)),
		fmt.Sprintf("%d of %d", rated, len(costs))}
	for _, m := range where {
		takes := left.Seconds()
		if m.runs > 1 {
			takes = max(takes/m.runs, min(takes, longest.Seconds()))
		}
		switch text := duration(takes / 3600); {
		case rated == len(costs):
			row = append(row, text)
		case left == 0:
			row = append(row, viz.Missing)
		default:
			row = append(row, "≥ "+text)
		}
	}
	return row
}

// duration writes hours with up to three digits in the unit that reads best: 0.8 s, 21 min, 6.3 h, 18,400 h.
func duration(hours float64) string {
	switch {
	case hours < 1.0/60:
		return fmt.Sprintf("%.2g s", hours*3600)
	case hours < 1:
		return fmt.Sprintf("%.2g min", hours*60)
	case hours < 999.5:
		return fmt.Sprintf("%.3g h", hours)
	}
	unit := math.Pow(10, math.Floor(math.Log10(hours))-2)
	return strings.ReplaceAll(thousands(int(math.Round(hours/unit)*unit)), " ", ",") + " h"
}

// Growth is the cost of an agent step of training as the problem grows, in microseconds of processor time over all
// cores. Other programs on the machine change it less than the wall-clock time. An agent step is one agent's part of
// one frame.
type Growth struct {
	Name   string // what grows
	Series []viz.Series
	Table  viz.Table // the same in numbers
}

// Plot draws the series.
func (g *Growth) Plot() (*plot.Plot, error) {
	high := 0.0
	for _, s := range g.Series {
		high = max(high, slices.Max(s.Y[0]))
	}
	f := viz.Figure{Title: "what an agent step of training costs", X: g.Name, Y: "processor time, µs", High: high}
	return viz.Curves(f, g.Series...)
}

// growthAxes are the sizes that MeasureGrowth varies, three values of each, the others as in the benchmark.
var growthAxes = []struct {
	name, key string
	sizes     []int
	memories  []string // of CERMIC
}{
	{"agents, 60 environments", "n_agents", []int{2, 4, 8}, []string{"mlp", "gru", "graph"}},
	{"environments, 4 agents", "copies", []int{20, 60, 180}, []string{"mlp"}},
}

// MeasureGrowth trains Balance at each size, with MAPPO and with MAPPO-CERMIC. A run has three rollout batches of so
// many steps and five epochs over minibatches of a third. Everything else is as at the budget short. axis 0 varies
// the number of agents, axis 1 the number of environments. set has further settings; settings of the explorer apply
// to CERMIC alone.
func MeasureGrowth(ctx context.Context, axis, steps int, set []string) (*Growth, error) {
	a := growthAxes[axis]
	host := results.CollectHost("")
	g := &Growth{Name: a.name, Table: viz.Table{Title: "Processor time of an agent step, µs",
		Notes: []string{fmt.Sprintf("The quickest of two iterations at each size; %d cores, %s.", host.Cores, host.CPU)}}}
	g.Table.AddColumn(a.name, mapped(a.sizes, strconv.Itoa)...)
	for _, memory := range append([]string{""}, a.memories...) {
		line, column := viz.Line("mappo", nil, nil), []string(nil)
		if memory != "" {
			line.Label = "mappo-cermic, " + memory
			line = line.WithMemory("mappo-cermic", memory)
		}
		for _, size := range a.sizes {
			cost, err := agentStep(ctx, memory, a.key, size, steps, set)
			if err != nil {
				return nil, fmt.Errorf("%s, %s=%d: %w", line.Label, a.key, size, err)
			}
			line.X, line.Y[0] = append(line.X, float64(size)), append(line.Y[0], cost)
			column = append(column, fmt.Sprintf("%.3g", cost))
		}
		g.Table.AddColumn(line.Label, column...)
		g.Series = append(g.Series, line)
	}
	return g, nil
}

// agentStep measures one cost in microseconds.
func agentStep(ctx context.Context, memory, key string, size, steps int, more []string) (float64, error) {
	agents, copies := 4, 60
	if key == "copies" {
		copies = size
	} else {
		agents = size
	}
	frames := steps * copies
	set := slices.Concat([]string{"task.reward=dense", fmt.Sprintf("task.n_agents=%d", agents),
		fmt.Sprintf("task.copies=%d", copies), fmt.Sprintf("learner.frames_per_batch=%d", frames),
		fmt.Sprintf("learner.minibatch_size=%d", (frames+2)/3), "learner.minibatch_iterations=5",
		"explore.memory=" + memory}, more)
	method := "mappo-cermic"
	if memory == "" {
		method = "mappo"
		set = slices.DeleteFunc(set, func(s string) bool { return strings.HasPrefix(s, "explore.") })
	}
	e, err := plan.New(plan.Request{Task: "vmas/balance", Method: method, Budget: "short", Set: set, Seed: 1})
	if err != nil {
		return 0, err
	}
	speed, err := plan.MeasureSpeed(ctx, e, 3)
	if err == nil && speed.Processor == 0 {
		err = errors.New("this system does not tell how much processor time a program has used")
	}
	return 1e6 * speed.Processor / float64(frames*agents), err
}
