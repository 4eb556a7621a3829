// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/viz"
)

// TestEveryMethodTrainsGroupsApart: two iterations on the task with two groups, of which one has a single agent, with scalars and
// returns of both. Memories have opponents for peers where the task says so.
func TestEveryMethodTrainsGroupsApart(t *testing.T) {
	for _, m := range Methods() {
		for _, opponents := range []string{"objects", "peers"} {
			if opponents == "peers" && !strings.Contains(m.ID, "cermic") {
				continue // whose parts know nothing of labels
			}
			t.Run(m.ID+" "+opponents, func(t *testing.T) {
				if testing.Short() && m.ID != "mappo-cermic" {
					t.Skip("compiles for seconds")
				}
				e := combination(t, m.ID, "vmas/simple_adversary", "mlp")
				if err := conf.Set(&e, "task.opponents", opponents); err != nil {
					t.Fatal(err)
				}
				r := libtest.Train(t, e)
				checkTrained(t, r, 2)
				for _, group := range []string{"adversary", "agent"} {
					own := 0
					for name := range r.Scalars {
						if strings.HasPrefix(name, group+"/") {
							own++
						}
					}
					if own == 0 || len(r.Evals[0].Groups[group]) != len(r.Evals[0].Scores) {
						t.Errorf("group %s has %d scalars and %d returns", group, own, len(r.Evals[0].Groups[group]))
					}
				}
			})
		}
	}
}

func TestCurvesOfGroupsHaveAPanelForEach(t *testing.T) {
	r := &results.Record{Task: "vmas/simple_adversary", Method: "mappo", Evals: []results.Eval{
		{Frames: 6000, Scores: []float64{-40}, Groups: map[string][]float64{"adversary": {-110}, "agent": {30}}},
		{Frames: 60000, Scores: []float64{-20}, Groups: map[string][]float64{"adversary": {-90, -70}, "agent": {40, 40}}},
	}}
	panels, err := GroupCurves([]*results.Record{r}, "simple_adversary")
	if err != nil || len(panels.Rows) != 1 || len(panels.Rows[0]) != 2 {
		t.Fatalf("%+v, %v", panels.Rows, err)
	}
	if low := panels.Rows[0][0].Y.Min; low > -117 { // BenchMARL's are there, too
		t.Errorf("the adversary's panel begins at %g", low)
	}
	if s := viz.GroupReturns(Groups([]*results.Record{r}), "adversary"); len(s) != 1 || !slices.Equal(s[0].Y[0], []float64{-110, -80}) {
		t.Errorf("series are %+v", s)
	}
	if _, err := GroupCurves(nil, "balance"); err == nil || !strings.Contains(err.Error(), "one group") {
		t.Errorf("got %v", err)
	}
}
