// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
)

// A record whose settings have changed since would stand under a name that now means something else.
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
		if len(data) > 30<<10 {
			t.Errorf("%s has %d bytes, want at most 30 KiB", name, len(data))
		}
		r, err := results.Unpack(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		label := strings.Fields(r.Method)
		e, err := plan.New(plan.Request{Task: r.Task, Method: label[0], Budget: r.Budget, Set: label[1:], Seed: r.Seed})
		if err != nil {
			t.Errorf("%s, %s on %s: %v", name, r.Method, r.Task, err)
			continue
		}
		if id, err := e.ID(); err != nil || id != r.ID || name != id+".json.gz" {
			t.Errorf("%s, %s on %s, seed %d, is run %s today (%v)", name, r.Method, r.Task, r.Seed, id, err)
		}
		if e.Label() != r.Method {
			t.Errorf("%s is called %q, today %q", name, r.Method, e.Label())
		}
	}
}
