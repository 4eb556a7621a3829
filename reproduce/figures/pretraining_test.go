// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
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
	before := must.Get(NewPretrainingAxis(st, tasks, "mappo-cermic", "smoke", 2, tinyMemory...))(t)
	if len(before.Missing) != 1 || len(before.Experiments) != 2 {
		t.Fatalf("%d pre-trainings missing and %d experiments, want 1 and those from scratch with 2 seeds", len(before.Missing), len(before.Experiments))
	}
	if table, err := before.Quality(); err != nil || strings.Join(table.Rows[0][3:], "") != strings.Repeat(viz.Missing, 5) {
		t.Errorf("what was not measured reads %q, %v", table.Rows, err)
	}
	quick := before.Missing[0]
	quick.Frames, quick.Epochs = 1000, 1
	made := must.Get(quick.Run(t.Context(), st, nil))(t)
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
	must.Do(t, (experiment.Pretrained{Weights: weights, Quality: nothing()}).Save(p, st))
	must.Do(t, os.WriteFile(memory.PretrainedPath(st.Dir(), weights), nil, 0o644))
}

// Memories without a detector start with all or nothing.
func TestExperimentsWithPretrainedWeightsComeFirst(t *testing.T) {
	for kind, want := range map[string][]string{
		"graph": {"full", "detector", "none"}, "mlp": {"full", "none"}, "gru": {"full", "none"},
	} {
		st := libtest.Store(t)
		axis := func() *PretrainingAxis {
			tasks, set := []string{"navigation"}, "explore.memory="+kind
			return must.Get(NewPretrainingAxis(st, tasks, "mappo-cermic", "smoke", 1, set))(t)
		}
		missing := axis().Missing
		if len(missing) != 1 || missing[0].Memory.Kind() != kind {
			t.Fatalf("%s: %+v is missing", kind, missing)
		}
		known(t, st, missing[0], "0123456789abcdef")
		after := axis()
		var starts []string
		for _, e := range after.Experiments {
			start, _ := conf.Get(e, "explore.memory.pretrain") // which only the graph has without weights
			start = cmp.Or(start, "none")
			if weights, _ := conf.Get(e, "explore.memory.pretrained"); (weights == "0123456789abcdef") != (start != "none") {
				t.Errorf("%s: %s starts with the weights %q", kind, start, weights)
			}
			starts = append(starts, start)
		}
		if !slices.Equal(starts, want) || len(after.Missing) != 0 {
			t.Errorf("%s: memories start with %q, want %q", kind, starts, want)
		}
		if table, err := after.Quality(); err != nil || slices.Contains(table.Rows[0], "NaN") || table.Rows[0][4] != "50.0 %" {
			t.Errorf("%s: the table says %q, %v", kind, table.Rows, err)
		}
		if panels, err := after.Curves(st); err != nil || len(panels.Rows) != 1 {
			t.Errorf("%s: %d rows of panels without any run: %v", kind, len(panels.Rows), err)
		}
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
		usual := must.Get(plan.NewPretraining(task, "graph"))(t)
		want := must.Get(usual.File())(t)
		axis := must.Get(NewPretrainingAxis(libtest.Store(t), []string{task}, "mappo-cermic", "short", 1))(t)
		if got, err := axis.Missing[0].File(); err != nil || got != want {
			t.Errorf("%s: the axis looks for %s, the verb makes %s, %v", task, got, want, err)
		}
	}
}

func TestCommittedPretrainingIsShownButItsWeightsAreMissing(t *testing.T) {
	p := must.Get(plan.NewPretraining("navigation", "graph"))(t)
	made := libtest.Store(t)
	known(t, made, p, "0123456789abcdef")
	set := []string{"explore.memory=graph", "explore.memory.pretrained=0123456789abcdef", "explore.memory.pretrain=full"}
	e := configure(t, plan.Request{Task: "navigation", Method: "mappo-cermic", Budget: "smoke", Seed: 1, Set: set})
	text := must.Get(conf.Marshal(e))(t)
	records := t.TempDir()
	must.Do(t, experiment.ExportPretrained(made, []*results.Record{{Experiment: text}}, records))
	st := libtest.Store(t)
	st.Base(results.NewLayer(os.DirFS(records)))
	axis, err := NewPretrainingAxis(st, []string{"navigation"}, "mappo-cermic", "short", 1)
	if err != nil || len(axis.Missing) != 1 || len(axis.Experiments) != 3 {
		t.Errorf("%d weights are missing for %d experiments, want 1 and 3: %v", len(axis.Missing), len(axis.Experiments), err)
	}
	report, err := PretrainingReport(st, "graph")
	if err != nil || len(report.Rows) != 1 || report.Rows[0][3] != "0123456789abcdef" || !strings.Contains(strings.Join(report.Notes, " "), "vmas/balance") {
		t.Errorf("the report says %+v, %v", report, err)
	}
	unnamed := []*results.Record{{Experiment: []byte("{}")}}
	must.Do(t, experiment.ExportPretrained(made, unnamed, filepath.Join(records, "other")))
	if _, err := os.Stat(filepath.Join(records, "other")); err == nil {
		t.Error("weights that no run names are exported")
	}
}
