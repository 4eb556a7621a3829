// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"testing"

	"cermic/cermiclib/memory"
	"cermic/envs/conf"
	"cermic/reproduce/figures"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
)

// What is committed of a pre-training stands under the name of all its settings, and so would mean something else if these changed.
func TestCommittedPretrainingsAreWhatTheirNamesMeanToday(t *testing.T) {
	known := map[string]bool{}
	for _, task := range plan.Tasks() {
		for _, kind := range conf.Kinds[memory.Config]() {
			p, err := plan.NewPretraining(task.ID, kind)
			if err != nil {
				t.Fatal(err)
			}
			for _, p.Frames = range figures.ReportFrames {
				name, err := p.File()
				if err != nil {
					t.Fatal(err)
				}
				known[name] = true
			}
		}
	}
	names, err := fs.Glob(records.FS, "pretrained/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d pre-trainings are committed, %v", len(names), err)
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("no report of today asks for %s", name)
		}
	}
}
