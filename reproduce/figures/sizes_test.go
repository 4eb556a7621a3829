// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
	"cermic/viz"
)

// The paper orders its memories by size: graph high, GRU medium, MLP low.
func TestMemoriesHaveThePrintedSizesAndOrder(t *testing.T) {
	table := must.Get(MemoryTable("navigation"))(t)
	last := table.Rows[len(table.Rows)-1]
	if want := "parameters|1 008 211 (High)|86 208 (Low)|670 400 (Medium)"; strings.Join(last, "|") != want {
		t.Errorf("got %v, want %s", last, want)
	}
}

// If one value differs, the box at the top of a notebook says so.
func TestPrintedValuesAreComparedOneByOne(t *testing.T) {
	memories, err := MemoryVerdict("navigation")
	if err != nil || memories.Head != "as printed" || !strings.Contains(memories.Text, "15 of 15") {
		t.Errorf("memories: %+v, %v", memories, err)
	}
	hyper, err := HyperVerdict()
	if err != nil || hyper.Head != "as printed" || !strings.Contains(hyper.Text, "14 of 14") {
		t.Errorf("hyper-parameters: %+v, %v", hyper, err)
	}
	for printed, want := range map[string]string{"5": "as printed", "6": "not as printed", viz.Missing: "as printed"} {
		if box := asPrinted("Numbers", []compared{{"a", "5", printed}, {"b", "x", "x"}}); box.Head != want {
			t.Errorf("5 beside %s is %q", printed, box.Head)
		}
	}
}

func TestDeparturesNameWhatIsPrinted(t *testing.T) {
	table, err := Departures("mappo-cermic")
	if err != nil || len(table.Rows) == 0 {
		t.Fatalf("%v, %v", table, err)
	}
	farther, err := Departures("mappo-cermic", "explore.memory=mlp")
	if err != nil || len(farther.Rows) != len(table.Rows)+1 {
		t.Errorf("with the MLP, which is not the paper's memory, %v after %v (%v)", farther.Rows, table.Rows, err)
	}
	for _, want := range []string{"explore.critic_squash", "explore.calib_form", "explore.calib_centre", "explore.mi_bounds"} {
		if !slices.ContainsFunc(table.Rows, func(row []string) bool { return row[0] == want }) {
			t.Errorf("%s is not listed", want)
		}
	}
	literal, err := Departures("mappo-cermic-literal")
	if err != nil || len(literal.Rows) == 0 || slices.ContainsFunc(literal.Rows, func(row []string) bool { return row[0] == "explore.calib_form" }) {
		t.Errorf("the literal preset departs in %v (%v)", literal.Rows, err)
	}
	if none, err := Departures("mappo"); err != nil || len(none.Rows) != 0 {
		t.Errorf("mappo departs in %v, %v", none.Rows, err)
	}
}
