// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"runtime"
	"time"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// machine is something that runs could be trained on.
type machine struct {
	name string
	runs float64 // at the same time, each as fast as one run here; 0: nobody has measured
}

// machines are this one and larger ones. What lies beyond this one is extrapolated: as many runs at the same time as it has times the
// cores of this machine, none slowing another down.
func machines(nodes int) []machine {
	here, many := runtime.NumCPU(), 16
	more := max(1, float64(many)/float64(here))
	return []machine{
		{fmt.Sprintf("%d cores, here", here), 1},
		{fmt.Sprintf("%d cores", many), more},
		{fmt.Sprintf("%d nodes of %d cores", nodes, many), more * float64(nodes)},
		{"one GPU", 0},
	}
}

const extrapolated = "Measured is one run at a time on this machine; where no run of a method has been trained here, its rate is that of records from another processor, " +
	"or is estimated from its slowdown against MAPPO at another budget. The columns for more cores are extrapolated from it: as many runs at the " +
	"same time as there are times the cores, none slowing another down, and never less than the longest run. GPU: not measured yet; " +
	"go run ./reproduce bench -only gpu does."

// Overview says what every table of results still costs at every budget, on this machine and, extrapolated, on others; nodes is the size
// of the cluster.
func Overview(st *results.Store, seeds, nodes int) (viz.Table, error) {
	t := viz.Table{Header: []string{"table", "budget", "runs", "done", "frames to go", "rates known"}}
	where := machines(nodes)
	for _, m := range where {
		t.Header = append(t.Header, m.name)
	}
	known, err := plan.NewRates(st)
	if err != nil {
		return t, err
	}
	for _, table := range paper.Benchmarks {
		for _, budget := range plan.Presets {
			es, _ := plan.Benchmark(table, budget.Budget.Name, seeds)
			costs, err := plan.CostsAt(known, es, st)
			if err != nil {
				return t, err
			}
			t.Rows = append(t.Rows, overviewRow(table.Name, budget.Budget.Name, costs, where))
		}
	}
	t.Notes = []string{extrapolated, "≥: that, and methods that no record has. -measure gives them a rate on tasks with vector observations; those with image observations, which take many times as long, have one after a first run."}
	return t, nil
}

// overviewRow is one table at one budget.
func overviewRow(table, budget string, costs []plan.Cost, where []machine) []string {
	var runs, done, frames int
	var left, longest time.Duration
	rated := 0
	for _, c := range costs {
		runs, done, frames, left = runs+c.Runs, done+c.Done, frames+c.Frames, left+c.Left()
		if c.Rate > 0 || c.Frames == 0 {
			rated++
		}
		longest = max(longest, c.Takes(c.Longest))
	}
	row := []string{table, budget, fmt.Sprint(runs), fmt.Sprint(done), viz.Short(float64(frames)), fmt.Sprintf("%d of %d", rated, len(costs))}
	for _, m := range where {
		row = append(row, hours(left, longest, m, rated < len(costs)))
	}
	return row
}

// hours is the time of so much training on a machine.
func hours(left, longest time.Duration, m machine, unknown bool) string {
	if m.runs == 0 || unknown && left == 0 {
		return viz.Missing
	}
	t := left.Hours()
	if m.runs > 1 {
		t = max(t/m.runs, min(t, longest.Hours()))
	}
	text := fmt.Sprintf("%.3g h", t)
	if unknown {
		text = "≥ " + text
	}
	return text
}
