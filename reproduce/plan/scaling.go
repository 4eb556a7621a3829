// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
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

const extrapolated = "Measured is one run at a time on this machine. The columns for more cores are extrapolated from it: as many runs at the " +
	"same time as there are times the cores, none slowing another down, and never less than the longest run. GPU: not measured yet; " +
	"`go run ./reproduce bench -only gpu` measures."

// Overview says what every table of results still costs at every budget, on this machine and, extrapolated, on others; nodes is the size
// of the cluster.
func Overview(st *results.Store, seeds, nodes int) (viz.Table, error) {
	t := viz.Table{Header: []string{"table", "budget", "runs", "done", "frames to go"}}
	where := machines(nodes)
	for _, m := range where {
		t.Header = append(t.Header, m.name)
	}
	for _, table := range paper.Tables {
		for _, budget := range Budgets {
			es, _ := Table(table, budget.Budget.Name, seeds)
			costs, err := Costs(es, st)
			if err != nil {
				return t, err
			}
			t.Rows = append(t.Rows, overviewRow(table.Name, budget, costs, where))
		}
	}
	t.Notes = []string{extrapolated, "≥: that, and what the methods take that have no rate here yet; -measure gives them one."}
	return t, nil
}

// overviewRow is one table at one budget.
func overviewRow(table string, budget Budget, costs []Cost, where []machine) []string {
	var runs, done, frames int
	var left, longest time.Duration
	unknown := false
	for _, c := range costs {
		runs, done, frames, left = runs+c.Runs, done+c.Done, frames+c.Frames, left+c.Left()
		unknown = unknown || c.Rate == 0 && c.Frames > 0
		if c.Rate > 0 && c.Frames > 0 {
			longest = max(longest, time.Duration(float64(budget.Budget.Frames)/c.Rate*float64(time.Second)))
		}
	}
	row := []string{table, budget.Budget.Name, fmt.Sprint(runs), fmt.Sprint(done), viz.Short(float64(frames))}
	for _, m := range where {
		row = append(row, hours(left, longest, m, unknown))
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

// Growth is how the speed of training changes with the size of the problem, for each memory of CERMIC and for MAPPO without any.
type Growth struct {
	Agents, Copies []viz.Series // thousands of agent steps a second over their number
	Table          viz.Table    // the same in numbers
}

// growthSizes are three of each.
var growthSizes = map[string][]int{"n_agents": {2, 4, 8}, "copies": {20, 60, 180}}

// growthLines are the methods, with what they are called in the figure.
var growthLines = []struct {
	label, method string
	set           []string
}{
	{"mappo", "mappo", nil},
	{"mappo-cermic, MLP", "mappo-cermic", []string{"explore.memory=mlp"}},
	{"mappo-cermic, GRU", "mappo-cermic", []string{"explore.memory=gru"}},
	{"mappo-cermic, graph", "mappo-cermic", []string{"explore.memory=graph"}},
}

// MeasureGrowth trains Balance for two collections of 50 steps at each size, five passes over minibatches of a third, and takes the second;
// everything else is as at the budget short. told, which may be nil, gets each rate as it comes.
func MeasureGrowth(ctx context.Context, told func(string)) (*Growth, error) {
	g := &Growth{}
	g.Table = viz.Table{Title: "Thousands of agent steps a second, end to end", Header: []string{""}}
	for _, line := range growthLines {
		g.Table.Header = append(g.Table.Header, line.label)
	}
	for _, axis := range []struct {
		key, name string
		to        *[]viz.Series
	}{{"n_agents", "agents, 60 copies", &g.Agents}, {"copies", "copies of 4 agents", &g.Copies}} {
		sizes := growthSizes[axis.key]
		rows := make([][]string, len(sizes))
		for i, size := range sizes {
			rows[i] = []string{fmt.Sprintf("%d %s", size, axis.name)}
		}
		for _, line := range growthLines {
			x, y := make([]float64, len(sizes)), make([]float64, len(sizes))
			for i, size := range sizes {
				rate, err := growthRate(ctx, line.method, axis.key, size, line.set)
				if err != nil {
					return nil, fmt.Errorf("%s, %s=%d: %w", line.label, axis.key, size, err)
				}
				x[i], y[i] = float64(size), rate/1000
				rows[i] = append(rows[i], fmt.Sprintf("%.1f", y[i]))
				if told != nil {
					told(fmt.Sprintf("%s, %d %s: %.1f", line.label, size, axis.name, y[i]))
				}
			}
			*axis.to = append(*axis.to, viz.Line(line.label, x, y))
		}
		g.Table.Rows = append(g.Table.Rows, rows...)
	}
	host := results.CollectHost("")
	g.Table.Notes = []string{fmt.Sprintf("Measured once at each size on %d cores, %s.", host.Cores, host.CPU)}
	return g, nil
}

// growthRate measures agent steps a second at one size.
func growthRate(ctx context.Context, method, key string, size int, set []string) (float64, error) {
	agents, copies := 4, 60
	if key == "n_agents" {
		agents = size
	} else {
		copies = size
	}
	frames := 50 * copies
	set = append([]string{"task.reward=dense", fmt.Sprintf("task.n_agents=%d", agents), fmt.Sprintf("task.copies=%d", copies),
		fmt.Sprintf("learner.frames_per_batch=%d", frames), fmt.Sprintf("learner.minibatch_size=%d", frames/3+1), "learner.minibatch_iterations=5"}, set...)
	e, err := New(Request{Task: "vmas/balance", Method: method, Budget: "short", Set: set, Seed: 1})
	if err != nil {
		return 0, err
	}
	rate, err := Rate(ctx, e)
	return rate * float64(agents), err
}
