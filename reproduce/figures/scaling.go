// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

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

// machines are this one and larger ones. Larger ones are extrapolated: with k times the cores they train k runs at a
// time, none slowing another down.
func machines(nodes int) []machine {
	here, many := runtime.NumCPU(), 16
	more := max(1, float64(many)/float64(here))
	return []machine{
		{fmt.Sprintf("%d cores, here", here), 1},
		{fmt.Sprintf("%d cores", many), more},
		{fmt.Sprintf("%d nodes of %d cores", nodes, many), more * float64(nodes)},
	}
}

const extrapolated = "Measured is one run at a time on this machine; where no run of a method has been trained here, its rate " +
	"is that of records from another processor, or is estimated from its slowdown against MAPPO at another budget. " +
	"The columns for more cores are extrapolated: a machine with eight times the cores trains eight runs at a time, none " +
	"slowing another down, and takes no less than the longest run. reproduce/PERFORMANCE.md has measurements of a GPU."

// Overview says what every table of results still costs at every budget, on this machine and, extrapolated, on others;
// nodes is the size of the cluster.
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
	row := []string{table, budget, fmt.Sprint(runs), fmt.Sprint(done), viz.Short(float64(frames)), fmt.Sprintf("%d of %d", rated, len(costs))}
	for _, m := range where {
		hours := left.Hours()
		if m.runs > 1 {
			hours = max(hours/m.runs, min(hours, longest.Hours()))
		}
		switch text := duration(hours); {
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
