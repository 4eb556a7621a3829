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
	var out []viz.Series
	for _, learner := range recordedLearners {
		built := func(method string) bool {
			m, err := plan.FindMethod(method)
			return err == nil && (m.Learner.Kind() == learner || cermiclib.Mixer(m.Learner) == learner)
		}
		rs, err := export.BenchMARL(learner, task)
		if err == nil && (len(methods) == 0 || slices.ContainsFunc(methods, built)) {
			out = append(out, viz.Evals(results.Groups(rs))...)
		}
	}
	for i := range out {
		out[i].Reference = true
	}
	return out
}
