// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"

	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// TrainedOn picks the records that were trained on one reward, "dense" or "sparse".
func TrainedOn(records []*results.Record, reward string) []*results.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *results.Record) bool { return paper.Setting(r.Experiment, "task.reward") != reward })
}

// recordedLearners are the learners with recorded runs of BenchMARL.
var recordedLearners = []string{"mappo", "qmix"}

// Recorded are BenchMARL's curves on a task of the learners that the methods are built on, or of all if no method is
// named, drawn as references; there are none of most tasks.
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
			m, err := plan.FindMethod(method)
			return err == nil && (m.Learner.Kind() == learner || plan.Mixer(m.Learner) == learner)
		}
		if rs, err := export.BenchMARL(learner, task); err == nil && (len(methods) == 0 || slices.ContainsFunc(methods, built)) {
			out = append(out, of(results.Groups(rs))...)
		}
	}
	for i := range out {
		out[i].Reference = true
	}
	return out
}
