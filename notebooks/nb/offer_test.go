// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

func TestOneCellOfTable1IsTrainedOnce(t *testing.T) {
	t.Setenv("NB_STORE", t.TempDir())
	runs := func() []*results.Record {
		t.Helper()
		return Must(Must(results.Open(storeFolder())).Find(results.Query{}))
	}
	options := []string{"budget=smoke", "seeds=1"}
	Cell(paper.Sota, "MAPPO", "Balanc*", options...)
	if n := len(runs()); n != 0 {
		t.Fatalf("%d runs although nobody has asked for training", n)
	}
	Cell(paper.Sota, "MAPPO", "Balanc*", append(options, "train=true")...)
	first := runs()
	if len(first) != 1 || !first[0].Complete || first[0].Method != "mappo" {
		t.Fatalf("got %v, want one complete run of the cell", summary(first))
	}
	Cell(paper.Sota, "MAPPO", "Balanc*", append(options, "again=true")...) // it has its weights here
	if again := runs(); len(again) != 1 || again[0].Host.Seconds != first[0].Host.Seconds {
		t.Errorf("the second time the cell has trained again: %v", summary(again))
	}
	box := Must(Must(plan.NewCell(paper.Sota, "MAPPO", "Balanc*", "smoke", 1)).Report(Store()))
	if box.Head != "too few seeds to test" || !strings.Contains(strings.Join(box.Lines, "\n"), "1 seed × ") {
		t.Errorf("the report is %+v", box)
	}
}

func TestNoRunIsTrainedWithoutBeingAskedFor(t *testing.T) {
	t.Setenv("NB_STORE", t.TempDir())
	t.Setenv("NB_HEADLESS", "1")
	TrainMissing(plan.Grid([]string{"balance"}, []string{"mappo"}, "short", 9))
	if ids := Must(Must(results.Open(storeFolder())).IDs()); len(ids) != 0 {
		t.Errorf("runs %v were trained", ids)
	}
	for first, want := range map[string][2]int{"": {0, 8}, "first": {1, 2}} {
		t.Setenv("NB_TRAIN", first)
		all := make([]experiment.Config, 3)
		if got := [2]int{len(Chosen(false, all)), Brief(8, 2)}; got != want || len(Chosen(true, all)) != 3 || len(Chosen(false, all[:0])) != 0 {
			t.Errorf("NB_TRAIN=%q: got %v, want %v", first, got, want)
		}
	}
}
