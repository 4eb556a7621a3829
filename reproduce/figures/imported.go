// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/viz"
)

// Imported are the curves of a task in files of other programs, one a method: BenchMARL writes a file for every seed.
// Where two files have the same seed of one method, each of its runs has a curve named after its file. All are drawn as
// references, in none of our methods' colours.
func Imported(files []string, task string) ([]viz.Series, error) {
	var all []*results.Record
	first := map[string]string{} // file of each method and seed
	repeated := map[string]bool{}
	for _, file := range files {
		rs, err := importedRuns(file, task)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			seed := fmt.Sprint(r.Method, r.Seed)
			if from, known := first[seed]; known && from != file {
				repeated[r.Method] = true
			}
			first[seed] = file
			r.Task, r.Experiment = file, nil // the name alone identifies the experiment
		}
		all = append(all, rs...)
	}
	for _, r := range all {
		label := "imported " + r.Method
		if repeated[r.Method] {
			label += ", " + r.Task
		}
		r.Method, r.Task = label, task
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
	var out []*results.Record
	var others []string
	for _, r := range all {
		if strings.EqualFold(r.Task, task) {
			out = append(out, r)
		} else if !slices.Contains(others, r.Task) {
			others = append(others, r.Task)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no run of %s, but of %s: choose another file, or another -task", file, task, strings.Join(others, ", "))
	}
	return out, nil
}
