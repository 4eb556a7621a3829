// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/reproduce/records"
)

// named are runs with one label, one a score.
func named(label string, scores ...float64) []*results.Record {
	var out []*results.Record
	for i, s := range scores {
		r := &results.Record{Task: "vmas/navigation", Method: label, Seed: uint64(i + 1), Complete: true, Evals: []results.Eval{{Scores: []float64{s}, Success: []float64{0, 1, 1, 1}}}}
		if label != "mappo" {
			for k := range 20 { // only the last two count
				r.Scalars = map[string][]results.Point{"cermic/kl": append(r.Scalars["cermic/kl"], results.Point{Frames: k, Value: float64(k / 18)})}
			}
		}
		out = append(out, r)
	}
	return out
}

func TestMemoriesAreNamedAfterThemselvesAndTheirStart(t *testing.T) {
	st, err := results.Open(t.TempDir())
	if err == nil {
		err = st.Base(records.FS)
	}
	if err != nil {
		t.Fatal(err)
	}
	rs, err := Memories(st, "navigation", "mappo", "short")
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, group := range labelled(rs) {
		labels = append(labels, group[0].Method)
	}
	if len(labels) < 2 || labels[0] != "mappo" || !slices.Contains(labels, "mlp") || !slices.IsSorted(labels[1:]) {
		t.Errorf("the committed runs are of %q, want mappo first and mlp among the memories in order", labels)
	}
	if rs[0].Method != "mappo" || len(labelled(rs)[0]) != 3 {
		t.Errorf("%d runs of %s come first, want three of mappo", len(labelled(rs)[0]), rs[0].Method)
	}
}

func TestMemoriesAreThoseOfTheChangesAlone(t *testing.T) {
	for set, want := range map[string]bool{"": false, "explore.alpha=0.5": true, "explore.alpha=0.5 explore.memory=graph": true, "explore.alpha=0.5 explore.ext_coef=2": false} {
		if onlyMemory(strings.Fields(set), []string{"explore.alpha=0.5"}) != want {
			t.Errorf("%q with α changed to 0.5: want %t", set, want)
		}
	}
}

func TestAgainstTheFirstLabel(t *testing.T) {
	rows := Against(slices.Concat(named("mappo", 1, 2, 3), named("graph", 11, 12, 13))).Rows
	if len(rows) != 2 || !strings.HasPrefix(rows[0][2], "2 [") || rows[0][3] != "–" {
		t.Errorf("the first row is %q, want a mean of 2 and no difference", rows[0])
	}
	if !strings.HasPrefix(rows[1][3], "10 [") || rows[1][4] != "1 [1, 1]" || rows[1][5] != "75 %, 75 %, 75 %" {
		t.Errorf("the second row is %q, want a difference of 10 certain improvement, and three quarters of successes", rows[1])
	}
}

func TestVitalsAreThoseOfTheEndAndOfCERMICAlone(t *testing.T) {
	v := Vitals(slices.Concat(named("mappo", 1), named("graph", 11, 12)))
	at := slices.Index(v.Header, "KL / d_x")
	if len(v.Rows) != 1 || v.Rows[0][0] != "graph" || v.Rows[0][at] != "1" || v.Rows[0][1] != "–" {
		t.Errorf("got %q, want one row of graph with a KL of 1 and nothing else known", v.Rows)
	}
}
