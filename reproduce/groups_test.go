// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

func TestAGroupIsNamedAsTheTaskDoes(t *testing.T) {
	if err := knownGroup("vmas/simple_adversary", "agent"); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ task, group, want string }{
		{"vmas/simple_adversary", "adversery", "want adversary or agent, did you mean adversary"}, {"vmas/balance", "agent", "are one group, leave it out"},
	} {
		if err := knownGroup(c.task, c.group); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), ";", ","), c.want) {
			t.Errorf("%s: %v, want %q", c.group, err, c.want)
		}
	}
}

func TestTheTableOfEpisodesHasAColumnForEachGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	rs := []*results.Record{
		{ID: "a", Evals: []results.Eval{{Frames: 1, Scores: []float64{1}, Groups: map[string][]float64{"b": {3}, "a": {-1}}}}},
		{ID: "b", Evals: []results.Eval{{Frames: 1, Scores: []float64{2}}}},
	}
	if err := exportCSV(nil, rs, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	lines := strings.Split(string(text), "\n")
	if err != nil || !strings.HasSuffix(lines[0], "success,a_return,b_return") || !strings.HasSuffix(lines[1], ",1,,,-1,3") || !strings.HasSuffix(lines[2], ",2,,,,") {
		t.Errorf("%v\n%s", err, text)
	}
}
