// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func TestCurvesOfOneRewardLeaveItOutOfTheirLabels(t *testing.T) {
	var all []*results.Record
	for _, set := range []string{"", "learner.lr=0.1 task.reward=dense", "task.reward=dense"} {
		all = append(all, recorded(t, plan.Request{Task: "balance", Method: "mappo", Budget: "short", Set: strings.Fields(set), Seed: 1}))
	}
	dense := plan.Groups(TrainedOn(all, "dense"), "task.reward")
	if len(dense) != 2 || dense[0].Label != "mappo learner.lr=0.1" || dense[1].Label != "mappo" || dense[1].Method != "mappo" {
		t.Errorf("got %+v", dense)
	}
}

// The score of an episode's first steps has panels where runs noted it, and no empty ones where none did.
func TestFirstStepsHavePanelsWhereRunsNotedThem(t *testing.T) {
	r := recorded(t, plan.Request{Task: "clean_up", Method: "mappo", Budget: "short", Seed: 1})
	r.Evals = []results.Eval{{Frames: 10, Scores: []float64{3}}}
	group := func() []results.Group { return []results.Group{{Label: "mappo", Runs: []*results.Record{r}}} }
	columns := func() int {
		drawn, err := Returns("clean_up", group())
		if err != nil || len(drawn.Rows) != 1 {
			t.Fatalf("%+v, %v", drawn, err)
		}
		return len(drawn.Rows[0])
	}
	if n := columns(); n != 2 {
		t.Errorf("%d panels of a run without, want 2", n)
	}
	r.Evals[0].Early = []float64{1}
	if n := columns(); n != 3 {
		t.Errorf("%d panels of a run with, want 3", n)
	}
}

func TestCurvesStandBesideTheRecordedOnes(t *testing.T) {
	st := libtest.Store(t)
	drawn, err := CurvesOf(st, "vmas", "short", "dense")
	panels, ok := drawn.(viz.Panels)
	if err != nil || !ok || len(slices.Concat(panels.Rows...)) != 10 || len(panels.Legend) != 2 { // nine tasks are recorded, one with two groups
		t.Errorf("%v, %v", drawn, err)
	}
	if said, err := CurvesOf(st, "smac", "short", "sparse"); err != nil || !strings.Contains(said.(string), "No complete run of smac") {
		t.Errorf("curves of nothing: %v, %v", said, err)
	}
	if len(Recorded("vmas/balance")) != 2 || len(Recorded("vmas/passage")) != 0 {
		t.Error("MAPPO and QMIX were recorded on balance, nothing on passage")
	}
}
