// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

func scored(task, method string, seed uint64, scores ...float64) *results.Record {
	return &results.Record{Task: task, Method: method, Seed: seed, Evals: []results.Eval{{Scores: []float64{-99}}, {Scores: scores}}}
}

// TestCompareCountsTheLastScores of two methods: means 2 and 4.5, and of the four pairs of runs three are won and one
// is tied.
func TestCompareCountsTheLastScores(t *testing.T) {
	table, err := Compare([]*results.Record{
		scored("a", "old", 1, 0, 2), scored("a", "old", 2, 3), scored("a", "new", 1, 3), scored("a", "new", 2, 5, 7),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"last score of old 2 1 to 3 2", "last score of new 4.5 3 to 6 2", "new minus old 2.5", "the same, Welch's interval 2.5 -6.467 to 11.47", "probability of improvement 0.875"} {
		if got := strings.Join(table.Rows[i], " "); !strings.HasPrefix(got, want) {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
}

func TestOnlyTwoMethodsOnOneTaskCompare(t *testing.T) {
	one, other := scored("a", "old", 1, 1), scored("a", "new", 1, 1)
	for name, rs := range map[string][]*results.Record{
		"one method": {one}, "two tasks": {one, scored("b", "new", 1, 1)}, "three methods": {one, other, scored("a", "third", 1, 1)},
		"no evaluation": {one, {Task: "a", Method: "new"}}, "none": nil,
	} {
		if _, err := Compare(rs); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	table, err := Compare([]*results.Record{one, other})
	if err != nil || table.Rows[0][2] == "" || strings.Contains(table.Rows[0][2], "NaN") {
		t.Errorf("one seed each: %v, %v", table.Rows, err)
	}
}
