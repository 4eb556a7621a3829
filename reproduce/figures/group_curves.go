// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// GroupCurves draws one panel for each group of a task whose groups are trained apart: the group's returns in runs on that task, beside
// those of BenchMARL's recordings, which were trained on the dense reward.
func GroupCurves(rs []*results.Record, task string) (viz.Panels, error) {
	names, err := plan.GroupNames(task)
	if err != nil {
		return viz.Panels{}, err
	}
	if len(names) == 0 {
		return viz.Panels{}, fmt.Errorf("all agents of %s are one group: draw its curves as those of other tasks", task)
	}
	known, err := plan.FindTask(task)
	if err != nil {
		return viz.Panels{}, err
	}
	var plots []*plot.Plot
	for _, name := range names {
		series := append(viz.GroupReturns(plan.Groups(rs), name), RecordedGroup(task, name)...)
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
