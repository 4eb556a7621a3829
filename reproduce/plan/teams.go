// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/viz"
)

// GroupNames are the names of a task's groups of agents that are trained apart, in the order of the task; none where all are one.
func GroupNames(task string) ([]string, error) {
	t, err := FindTask(task)
	if err != nil {
		return nil, err
	}
	cfg, err := envs.Default(t.ID)
	if err != nil {
		return nil, err
	}
	env, err := Single(cfg).Build(1, 1)
	if err != nil {
		return nil, err
	}
	defer envs.Close(env)
	var names []string
	for _, g := range env.Spec().Groups {
		names = append(names, g.Name)
	}
	return names, nil
}

// OneReward reports whether a task's sparse reward is its dense one, because it has no success: Simple Adversary, Ball Trajectory, Melting Pot.
func OneReward(task string) bool {
	cfg, err := envs.Default(task)
	if err != nil {
		return false
	}
	env, err := Single(cfg).Build(1, 1)
	if err != nil {
		return false
	}
	defer envs.Close(env)
	return !env.Spec().HasSuccess()
}

// GroupCurves draws one panel for each group of a task whose groups are trained apart: the group's returns in runs on that task, beside
// those of BenchMARL's recordings, which were trained on the dense reward.
func GroupCurves(rs []*results.Record, task string) (viz.Panels, error) {
	names, err := GroupNames(task)
	if err != nil {
		return viz.Panels{}, err
	}
	if len(names) == 0 {
		return viz.Panels{}, fmt.Errorf("all agents of %s are one group: draw its curves as those of other tasks", task)
	}
	known, err := FindTask(task)
	if err != nil {
		return viz.Panels{}, err
	}
	var plots []*plot.Plot
	for _, name := range names {
		series := append(viz.GroupReturns(Groups(rs), name), RecordedGroup(task, name)...)
		p, err := viz.Curves(viz.Figure{Title: known.Name + ", group " + name, X: "frames", Y: "mean return of the group's agents"}, series...)
		if err != nil {
			return viz.Panels{}, err
		}
		plots = append(plots, p)
	}
	panels := viz.NewPanels(len(plots), plots...)
	panels.Width, panels.Height = 4.6*vg.Inch, 2.8*vg.Inch
	return panels, nil
}
