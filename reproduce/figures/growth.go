// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Growth is what an agent step of training costs as the size of the problem grows: in microseconds of processor time,
// all cores together, which other programs on the machine change less than the wall clock. An agent step is one agent's
// part of one frame.
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
	return viz.Curves(viz.Figure{Title: "what an agent step of training costs", X: g.Name, Y: "processor time, µs", High: high}, g.Series...)
}

// GrowthAxes are the sizes that MeasureGrowth varies, three values of each, the others as in the benchmark.
var GrowthAxes = []struct {
	Name, Key string
	Sizes     []int
	Memories  []string // of CERMIC
	Set       []string // what else is changed; settings of the explorer count for CERMIC alone
}{
	{Name: "agents, 60 environments", Key: "n_agents", Sizes: []int{2, 4, 8}, Memories: []string{"mlp", "gru", "graph"}},
	{Name: "environments, 4 agents", Key: "copies", Sizes: []int{20, 60, 180}, Memories: []string{"mlp"}},
}

// MeasureGrowth trains Balance at each size, with MAPPO and with MAPPO-CERMIC: three rollout batches of so many steps,
// five passes over minibatches of a third, everything else as at the budget short. axis is the place in GrowthAxes;
// report, which may be nil, gets each cost as it comes.
func MeasureGrowth(ctx context.Context, axis, steps int, report func(string)) (*Growth, error) {
	a := GrowthAxes[axis]
	host := results.CollectHost("")
	g := &Growth{Name: a.Name, Table: viz.Table{Title: "Processor time of an agent step, µs", Header: []string{a.Name},
		Notes: []string{fmt.Sprintf("The quickest of two iterations at each size; %d cores, %s.", host.Cores, host.CPU)}}}
	for _, size := range a.Sizes {
		g.Table.Rows = append(g.Table.Rows, []string{fmt.Sprint(size)})
	}
	for _, memory := range append([]string{""}, a.Memories...) {
		label := "mappo"
		if memory != "" {
			label = "mappo-cermic, " + memory
		}
		g.Table.Header = append(g.Table.Header, label)
		var x, y []float64
		for i, size := range a.Sizes {
			cost, err := agentStep(ctx, memory, a.Key, size, steps, a.Set...)
			if err != nil {
				return nil, fmt.Errorf("%s, %s=%d: %w", label, a.Key, size, err)
			}
			x, y = append(x, float64(size)), append(y, cost)
			g.Table.Rows[i] = append(g.Table.Rows[i], fmt.Sprintf("%.3g", cost))
			if report != nil {
				report(fmt.Sprintf("%s, %s=%d: %.3g µs", label, a.Key, size, cost))
			}
		}
		line := viz.Line(label, x, y)
		if memory != "" {
			line = line.WithMemory("mappo-cermic", memory)
		}
		g.Series = append(g.Series, line)
	}
	return g, nil
}

// agentStep measures one cost in microseconds.
func agentStep(ctx context.Context, memory, key string, size, steps int, more ...string) (float64, error) {
	method, agents, copies := "mappo", 4, 60
	if key == "n_agents" {
		agents = size
	} else {
		copies = size
	}
	frames := steps * copies
	set := []string{"task.reward=dense", fmt.Sprintf("task.n_agents=%d", agents), fmt.Sprintf("task.copies=%d", copies),
		fmt.Sprintf("learner.frames_per_batch=%d", frames), fmt.Sprintf("learner.minibatch_size=%d", (frames+2)/3), "learner.minibatch_iterations=5"}
	if memory != "" {
		method, set = "mappo-cermic", append(set, "explore.memory="+memory)
	}
	for _, s := range more {
		if memory != "" || !strings.HasPrefix(s, "explore.") {
			set = append(set, s)
		}
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
