// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/viz"
)

// Imported are the curves of a task in files of other programs, one a method: BenchMARL writes a file for every seed. Where two
// files have the same seed of one method, each file has a curve of its own, labelled with the file. All are drawn as references.
// of makes the curves from the records.
func Imported(files []string, task string, of func([]results.Group) []viz.Series) ([]viz.Series, error) {
	byFile := make([][]*results.Record, len(files))
	for i, file := range files {
		if slices.ContainsFunc(files[:i], func(o string) bool { return sameFile(o, file) }) {
			return nil, RepeatedFileError(file)
		}
		var err error
		if byFile[i], err = importedRuns(file, task); err != nil {
			return nil, err
		}
	}
	var all []*results.Record
	for i, rs := range byFile {
		for _, r := range rs {
			own := *r
			own.Task, own.Experiment = task, nil // its name alone says of which experiment it is
			own.Method = "imported " + r.Method
			if clashes(byFile, r.Method) {
				own.Method += ", " + shortest(files, i)
			}
			all = append(all, &own)
		}
	}
	series := of(results.Groups(all))
	for i := range series {
		series[i].Reference = true
	}
	return series, nil
}

// RepeatedFileError is the error for a file, its value, that is named twice.
type RepeatedFileError string

func (e RepeatedFileError) Error() string { return string(e) + " is named twice" }

// importedRuns are the runs of a task in one file. Other programs write a task's name in letters of another case.
func importedRuns(file, task string) ([]*results.Record, error) {
	all, err := export.ImportFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
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

// clashes reports whether two files have the same seed of a method.
func clashes(byFile [][]*results.Record, method string) bool {
	seen := map[uint64]int{}
	for i, rs := range byFile {
		for _, r := range rs {
			if r.Method != method {
				continue
			}
			if at, ok := seen[r.Seed]; ok && at != i {
				return true
			}
			seen[r.Seed] = i
		}
	}
	return false
}

// shortest is the name of file i, with so many of the folders that it lies in as tell it apart from the others.
func shortest(files []string, i int) string {
	end := func(path string, parts int) string {
		all := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
		return strings.Join(all[max(len(all)-parts, 0):], "/")
	}
	parts := 1
	for parts < strings.Count(filepath.ToSlash(files[i]), "/")+1 && slices.ContainsFunc(slices.Delete(slices.Clone(files), i, i+1),
		func(o string) bool { return end(o, parts) == end(files[i], parts) }) {
		parts++
	}
	return end(files[i], parts)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
