// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"

	"cermic/cermiclib"
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

// Recorded returns BenchMARL's curves on a task of the learners of the methods, or of all learners without methods, drawn
// as references; most tasks have none.
func Recorded(task string, methods ...string) []viz.Series {
	return references(viz.Evals(recordedRuns(task, methods...)))
}

func references(series []viz.Series) []viz.Series {
	for i := range series {
		series[i].Reference = true
	}
	return series
}

// recordedRuns are the runs of Recorded.
func recordedRuns(task string, methods ...string) (out []results.Group) {
	for _, learner := range recordedLearners {
		built := func(method string) bool {
			m, err := plan.FindMethod(method)
			return err == nil && (m.Learner.Kind() == learner || cermiclib.Mixer(m.Learner) == learner)
		}
		rs, err := export.BenchMARL(learner, task)
		if err == nil && (len(methods) == 0 || slices.ContainsFunc(methods, built)) {
			out = append(out, results.Groups(rs)...)
		}
	}
	return out
}
