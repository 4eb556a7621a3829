// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// trainingReturn is the scalar of the mean score of the episodes that a rollout batch ends.
const trainingReturn = "train_score"

// taskRuns are the runs of one task in a row of panels, and further series among its evaluations.
type taskRuns struct {
	task   paper.Task
	groups []results.Group
	others []viz.Series
}

// returnsOf draws one row per task: greedy evaluations and, beside them, the return of training. That return is
// recorded after every rollout batch and shows how fast it rises. Where any run has separate scores of its episodes'
// first steps, as on Melting Pot, they stand between the two.
func returnsOf(tasks ...taskRuns) (viz.Panels, error) {
	early := slices.ContainsFunc(tasks, func(t taskRuns) bool { return len(viz.Early(t.groups)) > 0 })
	var charts []viz.Chart
	columns, lines := 1, 0
	for _, t := range tasks {
		row, err := t.row(early)
		if err != nil {
			return viz.Panels{}, err
		}
		charts, columns, lines = append(charts, row...), len(row), max(lines, len(t.groups)+len(t.others))
	}
	panels, err := viz.CurvePanels(columns, charts...)
	return sized(panels, columns, lines), err
}

// row are the figures of one task, with one for the first steps of its episodes if early.
func (t taskRuns) row(early bool) ([]viz.Chart, error) {
	score := plan.Score(t.task)
	chart := func(about string, series []viz.Series) viz.Chart {
		f := viz.Figure{Title: t.task.Name + ": " + about, X: "frames", Y: score}
		if early { // three panels are too narrow for both in a title
			f.Title, f.Y = t.task.Name, strings.TrimPrefix(score, "mean ")+", "+about
		}
		return viz.Chart{Figure: f, Series: series}
	}
	evals, training := slices.Concat(viz.Evals(t.groups), t.others), viz.Scalar(t.groups, trainingReturn)
	if !early {
		return []viz.Chart{chart("evaluations", evals), chart("return while training", training)}, nil
	}
	steps, err := plan.FirstSteps(t.task.ID)
	first := chart(fmt.Sprintf("first %d steps", steps), viz.Early(t.groups))
	return []viz.Chart{chart("whole episode", evals), first, chart("while training", training)}, err
}

// Returns draws groups of runs of one task: greedy evaluations and, beside them, the return of training.
func Returns(task string, gs []results.Group) (viz.Panels, error) {
	t, err := plan.FindTask(task)
	if err != nil {
		return viz.Panels{}, err
	}
	return returnsOf(taskRuns{task: t, groups: gs})
}

// sized are panels with room for the names of so many lines at their ends.
func sized(panels viz.Panels, columns, lines int) viz.Panels {
	panels.Width = viz.MaxWidth / vg.Length(columns)
	panels.Height = max(2.3*vg.Inch, vg.Length(0.6+0.18*float64(lines))*vg.Inch) // a line's name takes 0.18 inch
	return panels
}

// CurvesOf draws the evaluations of a family's tasks ("vmas", "meltingpot" or "smac"), three panels per row. It shows
// complete runs at a budget, trained on a reward, of methods with their default settings. It adds BenchMARL's
// recorded runs, which were trained on the dense reward. Groups of agents that are trained separately have a panel
// each. All methods but the coloured ones are grey.
func CurvesOf(st *results.Store, family, budget, reward string, coloured ...string) (any, error) {
	list, err := defaultRuns(st, budget, reward)
	if err != nil {
		return nil, err
	}
	var charts []viz.Chart
	add := func(title, y string, series []viz.Series) {
		for i, s := range series {
			if !s.Reference && !slices.Contains(coloured, s.Method) {
				series[i] = s.Muted()
			}
		}
		f := viz.Figure{Title: title, X: "frames", Y: y, Unlabelled: true}
		charts = append(charts, viz.Chart{Figure: f, Series: series})
	}
	for _, t := range list {
		var others []results.Group
		if reward == "dense" {
			others = recordedRuns(t.task.ID)
		}
		all := results.Flat(slices.Concat(t.groups, others))
		if !strings.HasPrefix(t.task.ID, family+"/") || len(all) == 0 {
			continue
		}
		names := slices.Sorted(maps.Keys(all[0].Evals[0].Groups))
		for _, name := range names {
			series := slices.Concat(viz.GroupEvals(t.groups, name), references(viz.GroupEvals(others, name)))
			add(t.task.Name+": "+name, "return", series)
		}
		if len(names) == 0 {
			add(t.task.Name, plan.Score(t.task), slices.Concat(viz.Evals(t.groups), references(viz.Evals(others))))
		}
	}
	if len(charts) == 0 {
		return "No complete run of " + family + " at budget " + budget + " was trained on the " + reward + " reward.", nil
	}
	panels, err := viz.CurvePanels(3, charts...)
	panels.Width, panels.Height = viz.MaxWidth/3, 2*vg.Inch
	return panels, err
}

// defaultRuns are each task's complete runs on a reward of the tables' methods with default settings, maybe none.
func defaultRuns(st *results.Store, budget, reward string) ([]taskRuns, error) {
	return each(plan.Tasks(), func(t paper.Task) (taskRuns, error) {
		rs, err := st.Find(results.Query{Task: t.ID, Budget: budget, Complete: true})
		if reward != "dense" || !plan.OneReward(t.ID) { // else its runs have whichever reward its preset names
			rs = TrainedOn(rs, reward)
		}
		return taskRuns{task: t, groups: tableGroups(rs)}, err
	})
}

// tableGroups are runs with the default settings of methods that the paper's tables show.
func tableGroups(rs []*results.Record) []results.Group {
	return slices.DeleteFunc(plan.Groups(rs, "task.reward"), func(g results.Group) bool {
		return g.Label != g.Method || !paper.InTables(g.Method)
	})
}

// Context returns reference lines for judging a learning curve, up to the frames of e. They are random play, the
// script where the task has one and, for the dense reward, BenchMARL's recorded runs of the same learner.
func Context(e experiment.Config) ([]viz.Series, error) {
	task := e.Task.Kind()
	chance, script, _, err := plan.Anchors(task)
	if err != nil {
		return nil, err
	}
	frames := float64(e.Budget.Frames)
	out := []viz.Series{level("random play", chance, frames)}
	if !math.IsNaN(script) {
		out = append(out, level("script", script, frames))
	}
	if e.Task.Shared().Reward != envs.Dense {
		return out, nil
	}
	learner := "mappo"
	if cermiclib.Mixer(e.Learner) != "" {
		learner = "qmix"
	}
	for _, s := range Recorded(task, learner) {
		n, _ := slices.BinarySearch(s.X, frames+0.5) // frames are whole numbers
		s.X = s.X[:n]
		for i := range s.Y {
			s.Y[i] = s.Y[i][:n]
		}
		out = append(out, s)
	}
	return out, nil
}

// level is a horizontal line, drawn as a reference.
func level(label string, score, frames float64) viz.Series {
	return viz.Reference(label, []float64{0, frames}, []float64{score, score})
}

// Rewards draws the evaluations of a task's complete runs at a budget, of methods with their default settings. One
// panel has runs trained on the dense reward. The other, on the same scale, has runs trained on the sparse one, which
// rewards success alone.
func Rewards(st *results.Store, task, budget string) (viz.Panels, error) {
	t, err := plan.FindTask(task)
	if err != nil {
		return viz.Panels{}, err
	}
	records, err := st.Find(results.Query{Task: t.ID, Budget: budget, Complete: true})
	if err != nil {
		return viz.Panels{}, err
	}
	dense, sparse := tableGroups(TrainedOn(records, "dense")), tableGroups(TrainedOn(records, "sparse"))
	titles := []string{"trained on the dense reward", "trained on the sparse reward"}
	plots, err := sideBySide(plan.Score(t), titles, dense, sparse)
	return sized(viz.NewPanels(2, plots...), 2, max(len(dense), len(sparse))), err
}
