// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
)

// Notebooks film these runs in a clone that has trained nothing.
func TestCommittedWeightsAreThoseThatRecordsName(t *testing.T) {
	st, err := openStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	heads, err := st.Heads(results.Query{})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, r := range heads {
		if r.Weights == "" {
			continue
		}
		named++
		if _, err := st.Weights(r.ID); err != nil {
			t.Errorf("%s, %s on %s: %v", r.ID, r.Method, r.Task, err)
		}
	}
	files, err := fs.ReadDir(records.FS, "weights")
	if err != nil && named > 0 || len(files) != named {
		t.Errorf("%d files of weights, and %d records name theirs: %v", len(files), named, err)
	}
	all := int64(0)
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if all += info.Size(); info.Size() > 1<<20 {
			t.Errorf("%s has %d bytes, want at most 1 MiB", f.Name(), info.Size())
		}
	}
	if all > 15<<20 {
		t.Errorf("all weights have %d bytes, want at most 15 MiB", all)
	}
}

// What is committed is never written anew, so it must be read as it is; what has today's form is what packing it again gives.
func TestCommittedRecordsAreReadToTheLastNumber(t *testing.T) {
	names, err := fs.Glob(records.FS, "*.json.gz")
	if err != nil || len(names) < 222 {
		t.Fatalf("%d records, %v", len(names), err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(records.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := results.Unpack(data)
		if err != nil || r.ID+".json.gz" != name || len(r.Evals) == 0 || len(r.Scalars) == 0 {
			t.Errorf("%s is read as %+v, %v", name, r, err)
			continue
		}
		again, err := results.Pack(r)
		if err != nil {
			t.Fatal(err)
		}
		text := unzipped(t, data)
		if points := strings.Count(text, `{"frames":`) > len(r.Evals)+len(r.Scalars); points {
			if n := strings.Count(text, `"value":`); n == 0 || n != numbers(r) {
				t.Errorf("%s has %d values, %d are read", name, n, numbers(r))
			}
		} else if unzipped(t, again) != text {
			t.Errorf("%s is something else when it is packed again", name)
		}
	}
}

func unzipped(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func numbers(r *results.Record) (n int) {
	for _, points := range r.Scalars {
		n += len(points)
	}
	return n
}

// Tables and figures count what today's defaults train: a record of other ones stands on a line of its own, and no cell has it.
func TestCommittedRecordsAreWhatTheirNamesMeanToday(t *testing.T) {
	names, err := fs.Glob(records.FS, "*.json.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d records, %v", len(names), err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(records.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := results.Unpack(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		most := 30 << 10
		if r.Budget == "paper" {
			most = 36 << 10
		}
		if r.Task == "vmas/simple_adversary" { // two groups, each with scalars of its own
			most *= 2
		}
		if len(data) > most {
			t.Errorf("%s has %d bytes, want at most %d KiB", name, len(data), most>>10)
		}
		var e experiment.Config
		if err := conf.Unmarshal(r.Experiment, &e); err != nil {
			t.Errorf("%s, %s on %s: %v", name, r.Method, r.Task, err)
			continue
		}
		if id, err := e.ID(); err != nil || id != r.ID || name != id+".json.gz" {
			t.Errorf("%s, %s on %s, seed %d, is run %s today (%v)", name, r.Method, r.Task, r.Seed, id, err)
		}
		label := plan.Groups([]*results.Record{r})[0].Label + " "
		if label != r.Method+" " {
			t.Errorf("%s is called %q, today %q", name, r.Method, label)
		}
	}
}
