// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// tinyMemory are sizes at which a graph memory compiles in a moment.
var tinyMemory = []string{"explore.memory.d_obs_enc=8", "explore.memory.d_node=8", "explore.memory.d_edge=4", "explore.memory.gnn_heads=2",
	"explore.memory.gnn_hidden=8", "explore.memory.d_f=8", "explore.memory.queue_len=1"}

func TestPretrainingIsFoundAgainAndNamesTheExperimentsWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("pre-trains")
	}
	st, tasks := libtest.Store(t), []string{"navigation"}
	before, err := NewPretrainingAxis(st, tasks, "mappo-cermic", "smoke", 2, tinyMemory...)
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Missing) != 1 || len(before.Experiments) != 2 {
		t.Fatalf("%d pre-trainings missing and %d experiments, want 1 and those from scratch with 2 seeds", len(before.Missing), len(before.Experiments))
	}
	if table, err := before.Quality(); err != nil || strings.Join(table.Rows[0][3:], "") != strings.Repeat(viz.Missing, 5) {
		t.Errorf("what was not measured reads %q, %v", table.Rows, err)
	}
	quick := before.Missing[0]
	quick.Frames, quick.Epochs = 1000, 1
	made, err := quick.Run(t.Context(), st, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := quick.Find(st)
	if err != nil || *found != *made || !(made.AUC > 0 && made.AUC < 1) {
		t.Errorf("found %+v, made %+v, error %v", found, made, err)
	}
	if _, err := before.Missing[0].Find(st); err == nil {
		t.Error("a longer pre-training is found where a shorter one was done")
	}
	if again, err := quick.Run(t.Context(), st, func(string, int, float64) { t.Error("it is pre-trained anew") }); err != nil || *again != *made {
		t.Errorf("a second time it is %+v, %v", again, err)
	}
	table, err := TabulatePretraining(st, []experiment.Pretraining{quick})
	if err != nil || table.Rows[0][3] != made.Weights || slices.Contains(table.Rows[0], "NaN") {
		t.Errorf("the table says %q, %v", table.Rows, err)
	}
}

// nothing is a quality of which only the share of pairs in sight could be measured.
func nothing() memory.Quality {
	return memory.Quality{AUC: math.NaN(), Present: 0.5, RMSE: math.NaN(), Spread: math.NaN()}
}

// known says in a store that p made weights of a name, and puts a file there.
func known(t *testing.T, st *results.Store, p experiment.Pretraining, weights string) {
	t.Helper()
	if err := (experiment.Pretrained{Weights: weights, Quality: nothing()}).Save(p, st); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(memory.PretrainedPath(st.Dir(), weights), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExperimentsWithPretrainedWeightsComeFirst(t *testing.T) {
	st := libtest.Store(t)
	axis, err := NewPretrainingAxis(st, []string{"navigation"}, "mappo-cermic", "smoke", 1)
	if err != nil {
		t.Fatal(err)
	}
	known(t, st, axis.Missing[0], "0123456789abcdef")
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
	if table, err := axis.Quality(); err != nil || slices.Contains(table.Rows[0], "NaN") || table.Rows[0][4] != "50.0 %" {
		t.Errorf("the table says %q, %v", table.Rows, err)
	}
	panels, err := axis.Curves(st)
	if err != nil || len(panels.Rows) != 1 {
		t.Errorf("%d rows of panels without any run: %v", len(panels.Rows), err)
	}
}

func TestMemoriesWithoutDetectorStartWithAllOrNothing(t *testing.T) {
	for _, kind := range []string{"mlp", "gru"} {
		st := libtest.Store(t)
		set := []string{"explore.memory=" + kind}
		axis, err := NewPretrainingAxis(st, []string{"navigation"}, "mappo-cermic", "smoke", 1, set...)
		if err != nil || len(axis.Missing) != 1 || axis.Missing[0].Memory.Kind() != kind {
			t.Fatalf("%s: %+v, %v", kind, axis, err)
		}
		known(t, st, axis.Missing[0], "0123456789abcdef")
		if axis, err = NewPretrainingAxis(st, []string{"navigation"}, "mappo-cermic", "smoke", 1, set...); err != nil {
			t.Fatal(err)
		}
		if label := axis.Experiments[0].Label(); len(axis.Experiments) != 2 || !strings.Contains(label, "pretrain=full") {
			t.Errorf("%s: %d experiments, the first is %s; want full and none", kind, len(axis.Experiments), label)
		}
	}
}

func TestALabelNamesAnExperimentWithPretrainedWeights(t *testing.T) {
	set := []string{"explore.memory=graph", "explore.memory.pretrained=0123456789abcdef", "explore.memory.pretrain=full"}
	e, err := plan.New(plan.Request{Task: "navigation", Method: "mappo-cermic", Budget: "short", Seed: 1, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	again, err := plan.New(plan.Request{Task: "navigation", Method: "mappo-cermic", Budget: "short", Seed: 1, Set: strings.Fields(e.Label())[1:]})
	if err != nil || again.Label() != e.Label() || again.Explore.(cermic.Config).Memory != e.Explore.(cermic.Config).Memory {
		t.Errorf("%q makes %q with memory %+v, %v", e.Label(), again.Label(), again.Explore, err)
	}
}

func TestWhatHasNoMemoryToPretrainIsRefused(t *testing.T) {
	_, err := NewPretrainingAxis(libtest.Store(t), []string{"navigation"}, "mappo", "smoke", 1)
	if err == nil || !strings.Contains(err.Error(), "explore.memory") {
		t.Error(err)
	}
}

// The verb and the notebook must find each other's weights.
func TestRunsOfEitherRewardShareTheUsualPretraining(t *testing.T) {
	for _, task := range []string{"navigation", "flocking", "balance"} {
		usual, err := plan.NewPretraining(task, "graph")
		if err != nil {
			t.Fatal(err)
		}
		want, err := usual.File()
		if err != nil {
			t.Fatal(err)
		}
		axis, err := NewPretrainingAxis(libtest.Store(t), []string{task}, "mappo-cermic", "short", 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := axis.Missing[0].File(); err != nil || got != want {
			t.Errorf("%s: the axis looks for %s, the verb makes %s, %v", task, got, want, err)
		}
	}
}

func TestCommittedPretrainingIsShownButItsWeightsAreMissing(t *testing.T) {
	p, err := plan.NewPretraining("navigation", "graph")
	if err != nil {
		t.Fatal(err)
	}
	made := libtest.Store(t)
	known(t, made, p, "0123456789abcdef")
	e, err := plan.New(plan.Request{Task: "navigation", Method: "mappo-cermic", Budget: "smoke", Seed: 1, Set: []string{"explore.memory=graph",
		"explore.memory.pretrained=0123456789abcdef", "explore.memory.pretrain=full"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := conf.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	records := t.TempDir()
	if err := experiment.ExportPretrained(made, []*results.Record{{Experiment: text}}, records); err != nil {
		t.Fatal(err)
	}
	st := libtest.Store(t)
	if err := st.Base(os.DirFS(records)); err != nil {
		t.Fatal(err)
	}
	axis, err := NewPretrainingAxis(st, []string{"navigation"}, "mappo-cermic", "short", 1)
	if err != nil || len(axis.Missing) != 1 || len(axis.Experiments) != 3 {
		t.Errorf("%d weights are missing for %d experiments, want 1 and 3: %v", len(axis.Missing), len(axis.Experiments), err)
	}
	report, err := PretrainingReport(st, "graph")
	if err != nil || len(report.Rows) != 1 || report.Rows[0][3] != "0123456789abcdef" || !strings.Contains(strings.Join(report.Notes, " "), "vmas/balance") {
		t.Errorf("the report says %+v, %v", report, err)
	}
	if err := experiment.ExportPretrained(made, []*results.Record{{Experiment: []byte("{}")}}, filepath.Join(records, "other")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(records, "other")); err == nil {
		t.Error("weights that no run names are exported")
	}
}
