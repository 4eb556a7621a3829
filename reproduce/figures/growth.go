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

// growthAxes are the sizes that MeasureGrowth varies, three values of each, the others as in the benchmark.
var growthAxes = []struct {
	name, key string
	sizes     []int
	memories  []string // of CERMIC
}{
	{"agents, 60 environments", "n_agents", []int{2, 4, 8}, []string{"mlp", "gru", "graph"}},
	{"environments, 4 agents", "copies", []int{20, 60, 180}, []string{"mlp"}},
}

// MeasureGrowth trains Balance at each size, with MAPPO and with MAPPO-CERMIC: three rollout batches of so many steps,
// five passes over minibatches of a third, everything else as at the budget short. axis 0 varies the number of agents, 1
// that of environments. set has further settings; those of the explorer count for CERMIC alone.
func MeasureGrowth(ctx context.Context, axis, steps int, set []string) (*Growth, error) {
	a := growthAxes[axis]
	host := results.CollectHost("")
	g := &Growth{Name: a.name, Table: viz.Table{Title: "Processor time of an agent step, µs", Header: []string{a.name},
		Notes: []string{fmt.Sprintf("The quickest of two iterations at each size; %d cores, %s.", host.Cores, host.CPU)}}}
	for _, size := range a.sizes {
		g.Table.Rows = append(g.Table.Rows, []string{fmt.Sprint(size)})
	}
	for _, memory := range append([]string{""}, a.memories...) {
		line := viz.Line("mappo", nil, make([]float64, len(a.sizes)))
		if memory != "" {
			line.Label = "mappo-cermic, " + memory
			line = line.WithMemory("mappo-cermic", memory)
		}
		g.Table.Header = append(g.Table.Header, line.Label)
		for i, size := range a.sizes {
			cost, err := agentStep(ctx, memory, a.key, size, steps, set)
			if err != nil {
				return nil, fmt.Errorf("%s, %s=%d: %w", line.Label, a.key, size, err)
			}
			line.X, line.Y[0][i] = append(line.X, float64(size)), cost
			g.Table.Rows[i] = append(g.Table.Rows[i], fmt.Sprintf("%.3g", cost))
		}
		g.Series = append(g.Series, line)
	}
	return g, nil
}

// agentStep measures one cost in microseconds.
func agentStep(ctx context.Context, memory, key string, size, steps int, more []string) (float64, error) {
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
