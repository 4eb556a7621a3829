// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// TrainedOn picks the records that were trained on one reward, "dense" or "sparse".
func TrainedOn(records []*results.Record, reward string) []*results.Record {
	other := func(r *results.Record) bool { return paper.Setting(r.Experiment, "task.reward") != reward }
	return slices.DeleteFunc(slices.Clone(records), other)
}

// recordedLearners are the learners with recorded runs of BenchMARL.
var recordedLearners = []string{"mappo", "qmix"}

// Recorded returns BenchMARL's recorded curves on a task, drawn as references: for the methods' learners, or for all
// learners if no method is given. Most tasks have none.
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

// Imported are the curves of a task in files of other programs, one curve per method, since BenchMARL writes a file
// for every seed. All are drawn as references, in none of our methods' colours.
func Imported(files []string, task string) ([]viz.Series, error) {
	var all []*results.Record
	first := map[string]string{} // file of each method and seed
	for _, file := range files {
		rs, err := importedRuns(file, task)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			seed := fmt.Sprintf("%s with seed %d", r.Method, r.Seed)
			if from, known := first[seed]; known && from != file {
				return nil, fmt.Errorf("%s and %s both have a run of %s: a mean counts every seed once", from, file, seed)
			}
			first[seed] = file
			r.Method, r.Task, r.Experiment = "imported "+r.Method, task, nil // the name alone identifies the experiment
		}
		all = append(all, rs...)
	}
	return references(viz.Evals(results.Groups(all))), nil
}

// importedRuns are the runs of a task in one file. Other programs write a task's name in letters of another case.
func importedRuns(file, task string) ([]*results.Record, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all, err := export.Import(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var others []string
	out := slices.DeleteFunc(all, func(r *results.Record) bool {
		other := !strings.EqualFold(r.Task, task)
		if other && !slices.Contains(others, r.Task) {
			others = append(others, r.Task)
		}
		return other
	})
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no run of %s, but of %s: choose another file, or another -task",
			file, task, strings.Join(others, ", "))
	}
	return out, nil
}
