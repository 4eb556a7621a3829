// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// Grid lists the experiments of every method on every task, with seeds 1 to seeds and the same changed settings. What is named twice, under
// whatever names, is listed once.
func Grid(tasks, methods []string, budget string, seeds int, set ...string) ([]run.Experiment, error) {
	var es []run.Experiment
	for _, task := range tasks {
		for _, method := range methods {
			for seed := 1; seed <= seeds; seed++ {
				e, err := New(Request{Task: task, Method: method, Budget: budget, Set: set, Seed: uint64(seed)})
				if err != nil {
					return nil, err
				}
				es = append(es, e)
			}
		}
	}
	return unique(es)
}

// TrainedOn picks the records that were trained on one reward, "dense" or "sparse".
func TrainedOn(records []*results.Record, reward string) []*results.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *results.Record) bool { return paper.Setting(r.Experiment, "task.reward") != reward })
}

// recordedLearners are those of which there are runs of BenchMARL.
var recordedLearners = []string{"mappo", "qmix"}

// Recorded are BenchMARL's curves on a task of the learners that the methods are built on, or of all if no method is named, drawn as
// references; there are none of most tasks.
func Recorded(task string, methods ...string) []viz.Series {
	return peerCurves(task, viz.Evals, methods)
}

// RecordedGroup is Recorded for the returns of one group of a task whose groups are trained apart.
func RecordedGroup(task, group string, methods ...string) []viz.Series {
	return peerCurves(task, func(gs []results.Group) []viz.Series { return viz.GroupReturns(gs, group) }, methods)
}

func peerCurves(task string, of func([]results.Group) []viz.Series, methods []string) []viz.Series {
	var out []viz.Series
	for _, learner := range recordedLearners {
		built := func(method string) bool {
			m, err := FindMethod(method)
			return err == nil && (m.Learner.Kind() == learner || mixer(m.Learner) == learner)
		}
		if rs, err := results.BenchMARL(learner, task); err == nil && (len(methods) == 0 || slices.ContainsFunc(methods, built)) {
			out = append(out, of(results.Groups(rs))...)
		}
	}
	for i := range out {
		out[i].Reference = true
	}
	return out
}

// CurvesOf draws one panel for every task that has complete runs at a budget, trained on a reward, or curves recorded from
// BenchMARL, which was trained on the dense one.
//
// Runs that start from pre-trained weights are left out: Memories has them, and by the weights' names nobody could tell them apart here.
func CurvesOf(st *results.Store, budget, reward string) (viz.Panels, error) {
	records, err := st.Find(results.Query{Budget: budget, Complete: true})
	if err != nil {
		return viz.Panels{}, err
	}
	records = slices.DeleteFunc(TrainedOn(records, reward), func(r *results.Record) bool {
		return paper.Setting(r.Experiment, "explore.memory.pretrained") != ""
	})
	var plots []*plot.Plot
	most := 0
	for _, t := range Tasks() {
		own := slices.DeleteFunc(slices.Clone(records), func(r *results.Record) bool { return r.Task != t.ID })
		series := viz.Evals(Groups(own, "task.reward"))
		if reward == "dense" {
			series = append(series, Recorded(t.ID)...)
		}
		if len(series) == 0 {
			continue
		}
		p, err := viz.Curves(viz.Figure{Title: t.Name, X: "frames", Y: t.Score()}, series...)
		if err != nil {
			return viz.Panels{}, err
		}
		plots, most = append(plots, p), max(most, len(series))
	}
	if len(plots) == 0 {
		return viz.Panels{}, fmt.Errorf("no complete run at budget %s was trained on the %s reward; set train to true, or choose another", budget, reward)
	}
	panels := viz.NewPanels(2, plots...)
	panels.Width, panels.Height = 4.6*vg.Inch, max(2.8*vg.Inch, vg.Length(0.6+0.18*float64(most))*vg.Inch) // a line's name takes 0.18 inch
	return panels, nil
}
