// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"cermic/cermiclib/results"
)

func TestCurvesOfOneRewardLeaveItOutOfTheirLabels(t *testing.T) {
	record := func(method, reward string) *results.Record {
		return &results.Record{Method: method, Experiment: []byte(`{"task":{"reward":"` + reward + `"}}`)}
	}
	all := []*results.Record{record("mappo", "sparse"), record("mappo learner.lr=0.1 task.reward=dense", "dense"), record("mappo task.reward=dense", "dense")}
	dense := TrainedOn(all, "dense")
	if len(dense) != 2 || dense[0].Method != "mappo learner.lr=0.1" || dense[1].Method != "mappo" || all[2].Method != "mappo task.reward=dense" {
		t.Errorf("got %d: %q", len(dense), dense[0].Method)
	}
}

func TestCurvesStandBesideTheRecordedOnes(t *testing.T) {
	st, err := results.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	panels, err := CurvesOf(st, "short", "dense")
	if err != nil || len(panels.Rows) != 5 { // nine tasks have recorded curves
		t.Errorf("%d rows of panels, %v", len(panels.Rows), err)
	}
	if _, err := CurvesOf(st, "short", "sparse"); err == nil {
		t.Error("curves of nothing")
	}
	if len(Recorded("vmas/balance")) != 2 || len(Recorded("vmas/passage")) != 0 {
		t.Error("MAPPO and QMIX were recorded on balance, nothing on passage")
	}
}

func TestAGridIsEveryMethodOnEveryTask(t *testing.T) {
	es, err := Grid([]string{"balance", "wheel"}, []string{"mappo", "qmix"}, "smoke", 2, "task.reward=dense")
	if err != nil || len(es) != 8 || es[7].Seed != 2 || es[7].Task.Kind() != "vmas/wheel" {
		t.Errorf("%d experiments, %v", len(es), err)
	}
}
