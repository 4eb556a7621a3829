// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/viz"
)

func emptyStore(t *testing.T) *results.Store {
	t.Helper()
	st, err := results.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// tinyMemory are sizes at which a graph memory compiles in a moment.
var tinyMemory = []string{"explore.memory.d_obs_enc=8", "explore.memory.d_node=8", "explore.memory.d_edge=4", "explore.memory.gnn_heads=2",
	"explore.memory.gnn_hidden=8", "explore.memory.d_f=8", "explore.memory.queue_len=1"}

func TestPretrainingIsFoundAgainAndNamesTheExperimentsWeights(t *testing.T) {
	st, tasks := emptyStore(t), []string{"navigation"}
	before, err := NewPretrainingAxis(st, tasks, "mappo-cermic", "smoke", 2, tinyMemory...)
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Missing) != 1 || len(before.Experiments) != 2 {
		t.Fatalf("%d pre-trainings missing and %d experiments, want 1 and those from scratch with 2 seeds", len(before.Missing), len(before.Experiments))
	}
	if row := before.Quality().Rows[0]; strings.Join(row[1:], "") != strings.Repeat(viz.Missing, 5) {
		t.Errorf("what was not measured reads %q", row)
	}
	quick := before.Missing[0]
	quick.Epochs = 1
	made, err := quick.Run(t.Context(), st, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := quick.Find(st)
	if err != nil || *found != *made || !(made.AUC > 0 && made.AUC < 1) {
		t.Errorf("found %+v, made %+v, error %v", found, made, err)
	}
	if _, err := before.Missing[0].Find(st); err == nil {
		t.Error("two epochs are found where one was trained")
	}
	after := &PretrainingAxis{tasks: []pretrainedTask{{name: "navigation", pre: made}}}
	if row := after.Quality().Rows[0]; row[1] != made.Weights || slices.Contains(row, "NaN") {
		t.Errorf("the table says %q", row)
	}
}

func TestExperimentsWithPretrainedWeightsComeFirst(t *testing.T) {
	st := emptyStore(t)
	axis, err := NewPretrainingAxis(st, []string{"navigation"}, "mappo-cermic", "smoke", 1)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	if err := (Pretrained{"0123456789abcdef", memory.Quality{AUC: nan, Present: 0.5, RMSE: nan, Spread: nan}}).save(axis.Missing[0], st); err != nil {
		t.Fatal(err)
	}
	if axis, err = NewPretrainingAxis(st, []string{"navigation"}, "mappo-cermic", "smoke", 1); err != nil {
		t.Fatal(err)
	}
	var starts []string
	for _, e := range axis.Experiments {
		g := e.Explore.(cermic.Config).Memory.(memory.DynamicGraph)
		starts = append(starts, g.Pretrain+" "+g.Weights)
	}
	if want := []string{"full 0123456789abcdef", "detector 0123456789abcdef", "none "}; !slices.Equal(starts, want) || len(axis.Missing) != 0 {
		t.Errorf("memories start with %q, want %q", starts, want)
	}
	if row := axis.Quality().Rows[0]; slices.Contains(row, "NaN") || row[2] != "50.0 %" {
		t.Errorf("the table says %q", row)
	}
	panels, err := axis.Curves(st)
	if err != nil || len(panels.Rows) != 1 {
		t.Errorf("%d rows of panels without any run: %v", len(panels.Rows), err)
	}
}

func TestOnlyGraphMemoriesArePretrained(t *testing.T) {
	for _, c := range []struct{ method, set, says string }{
		{"mappo", "", "explore.memory"}, {"mappo-cermic", "explore.memory=mlp", "leave explore.memory=mlp out"},
	} {
		var set []string
		if c.set != "" {
			set = []string{c.set}
		}
		if _, err := NewPretrainingAxis(emptyStore(t), []string{"navigation"}, c.method, "smoke", 1, set...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v", c.method, c.set, err)
		}
	}
}
