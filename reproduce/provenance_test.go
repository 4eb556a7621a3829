// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/records"
)

// history is the set of commits that HEAD leads back to.
func history(t *testing.T) map[string]bool {
	t.Helper()
	shallow, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output()
	if err != nil || strings.TrimSpace(string(shallow)) != "false" {
		t.Skipf("git does not know the whole history here (%v): the commits of records are not looked up", err)
	}
	out, err := exec.Command("git", "rev-list", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	commits := map[string]bool{}
	for _, commit := range strings.Fields(string(out)) {
		commits[commit] = true
	}
	return commits
}

func TestCommitsHaveTheSourcesOfTheirRecords(t *testing.T) {
	commits, sources := history(t), map[string]string{}
	st, done, err := storeOf(records.FS)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	heads, err := st.Heads(results.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var not []string
	for _, r := range heads {
		h := r.Host
		if known := h.Commit != "" && !h.Dirty && commits[h.Commit]; known != records.Rebuildable(h) {
			t.Errorf("run %s of commit %q counts as rebuildable: %v, want %v", r.ID, h.Commit, !known, known)
		}
		if !records.Rebuildable(h) {
			not = append(not, r.ID)
		}
		if h.Sources == "" {
			continue
		}
		if _, ok := sources[h.Commit]; !ok {
			if sources[h.Commit], err = experiment.SourcesOf(h.Commit); err != nil {
				t.Errorf("run %s: %v", r.ID, err)
			}
		}
		if h.Sources != sources[h.Commit] || h.Dirty {
			t.Errorf("run %s was trained from sources %s, its commit %s has %s: train it again from a commit", r.ID, h.Sources, h.Commit, sources[h.Commit])
		}
	}
	if err := refuseUnbuildable(heads); err != nil {
		t.Errorf("records that are committed are refused: %v", err)
	}
	t.Logf("%d of %d records are not rebuildable from a commit: %s", len(not), len(heads), strings.Join(not, " "))
}
