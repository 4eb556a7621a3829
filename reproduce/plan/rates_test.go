// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

func TestATornRateIsMeasuredAgain(t *testing.T) {
	st := libtest.Store(t)
	e, err := New(Request{Task: "vmas/balance", Method: "mappo", Budget: "smoke", Seed: 1, Set: []string{"learner.critic_hidden=8", "policy.hidden=8"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(st.Dir(), samplesFile), []byte(`{"cpu":"x","meth`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	told := 0
	tell := func(method, budget string, fps float64) {
		told++
		if method != "mappo" || budget != "smoke" || !(fps > 0) {
			t.Errorf("told of %s at %s: %g", method, budget, fps)
		}
	}
	for range 2 { // the second time it is there
		if err := MeasureRates(t.Context(), []experiment.Config{e, e}, st, tell); err != nil {
			t.Fatal(err)
		}
	}
	if told != 1 {
		t.Errorf("measured %d times", told)
	}
	costs, err := Costs([]experiment.Config{e}, st)
	if err != nil || len(costs) != 1 || !(costs[0].Rate > 0) || costs[0].Measured != 0 {
		t.Errorf("costs %+v, %v", costs, err)
	}
	if found, err := st.Find(results.Query{}); err != nil || len(found) != 0 {
		t.Errorf("measuring leaves %d runs in the store, %v", len(found), err)
	}
}

// TestPicturesHaveRatesOfTheirOwn: what vectors take says nothing of them.
func TestPicturesHaveRatesOfTheirOwn(t *testing.T) {
	st := libtest.Store(t)
	cpu := results.CollectHost("").CPU
	if err := appendSample(st.Dir(), sample{cpu, "go", "mappo", "short", 1000}); err != nil {
		t.Fatal(err)
	}
	var es []experiment.Config
	for _, task := range []string{"balance", "chicken_in_the_matrix__repeated", "clean_up", "navigation", "stag_hunt_in_the_matrix__repeated"} {
		es = append(es, configure(t, Request{Task: task, Method: "mappo", Budget: "short", Seed: 1}))
	}
	costs, err := Costs(es, st)
	if err != nil {
		t.Fatal(err)
	}
	want := []Cost{
		{Method: "mappo", Runs: 2, Frames: 1_200_000, Longest: 600_000, Rate: 1000, Source: Sampled},
		{Method: "mappo", Pictured: 2, Runs: 2, Frames: 1_200_000, Longest: 600_000},
		{Method: "mappo", Pictured: 7, Runs: 1, Frames: 30_000, Longest: 30_000},
	}
	if !slices.Equal(costs, want) {
		t.Errorf("%+v, want %+v", costs, want)
	}
	if _, _, known := strings.Cut(CostTable(costs).Notes[0], "and what is not measured yet"); !known {
		t.Errorf("%q leaves out that pictures have no rate", CostTable(costs).Notes[0])
	}
	if err := MeasureRates(t.Context(), es[1:3], st, func(method, budget string, _ float64) { t.Errorf("measured %s at %s", method, budget) }); err != nil {
		t.Error(err)
	}
}

// TestAForksTimeIsThatOfItsOwnFrames: a branch at 540,000 of 600,000 frames is no run that was ten times as fast.
func TestAForksTimeIsThatOfItsOwnFrames(t *testing.T) {
	st, cpu := libtest.Store(t), results.CollectHost("").CPU
	e := configure(t, Request{Task: "balance", Method: "mappo", Budget: "short", Seed: 1})
	fork := e
	fork.Forks = []experiment.Fork{{Parent: "0123abcd", At: 540_000}}
	for id, run := range map[string]experiment.Config{"0123abcd": e, "4567cdef": fork} {
		text, err := conf.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		r, err := st.Claim(t.Context(), id, text, results.Record{Task: "vmas/balance", Method: "mappo", Budget: "short", Seed: 1}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		seconds := map[string]float64{"0123abcd": 600, "4567cdef": 60}[id]
		if err := errors.Join(r.AppendScalars(600_000, map[string]float64{"x": 1}), r.Finish(results.Host{CPU: cpu, Seconds: seconds}), r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	rates, err := NewRates(st)
	if err != nil {
		t.Fatal(err)
	}
	if got := rates.here[rateKey{"mappo", "short", 0}].fps(); got != 1000 {
		t.Errorf("%g frames/s, want 1000", got)
	}
}
