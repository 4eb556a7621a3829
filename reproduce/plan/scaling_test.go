// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/viz"
)

func TestTheOverviewExtrapolatesFromWhatWasMeasuredHereAndFromNothingElse(t *testing.T) {
	st := emptyStore(t)
	read := func() (row map[string]string) {
		table, err := Overview(st, 2, 4)
		if err != nil {
			t.Fatal(err)
		}
		if len(table.Rows) != len(paper.Tables)*len(Budgets) {
			t.Errorf("%d lines for %d tables at %d budgets", len(table.Rows), len(paper.Tables), len(Budgets))
		}
		row = map[string]string{}
		for _, r := range table.Rows {
			if r[0] == "density" && r[1] == "short" {
				for i, head := range table.Header {
					row[head] = r[i]
				}
			}
		}
		return row
	}
	if row := read(); row["16 cores"] != viz.Missing {
		t.Errorf("nothing was measured, and 16 cores take %q", row["16 cores"])
	}
	density, _ := Table(paper.Density, "short", 2)
	cpu := results.CollectHost("").CPU
	methods := map[string]bool{}
	for _, e := range density {
		methods[methodOf(e)] = true
	}
	for method := range methods {
		for _, s := range []sample{{cpu, "go", method, "short", 1}, {cpu, "go", method, "short", 1000}, {"another processor", "go", method, "short", 7}} {
			if err := appendSample(st.Dir(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	row := read()
	left := 0.0
	for _, e := range density {
		left += float64(e.Budget.Frames) / 1000 / 3600
	}
	where := machines(4)
	for i, m := range where[:3] {
		want := max(left/m.runs, 600_000.0/1000/3600) // the longest run bounds it
		if i == 0 {
			want = left
		}
		if got := row[m.name]; got != fmt.Sprintf("%.3g h", want) {
			t.Errorf("%s: %q, want %.3g h", m.name, got, want)
		}
	}
	if got := row["one GPU"]; got != viz.Missing {
		t.Errorf("a GPU that nobody measured takes %q", got)
	}
}

func TestATornRateIsMeasuredAgain(t *testing.T) {
	st := emptyStore(t)
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

func TestGrowthIsMeasuredAtThreeSizesOfEachMethod(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the graphs of six networks")
	}
	if _, err := results.ProcessorSeconds(); err != nil {
		t.Skip(err)
	}
	told := 0
	g, err := MeasureGrowth(t.Context(), 1, 1, func(string) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	if told != 6 || len(g.Series) != 2 || len(g.Table.Rows) != 3 || len(g.Table.Rows[2]) != 3 || g.Table.Rows[2][0] != "180" {
		t.Errorf("told %d costs, %d series, table %v", told, len(g.Series), g.Table.Rows)
	}
	for _, s := range g.Series {
		for i, cost := range s.Y[0] {
			if !(cost > 0) {
				t.Errorf("%s at %g costs %g", s.Label, s.X[i], cost)
			}
		}
	}
	if _, err := g.Plot(); err != nil {
		t.Error(err)
	}
}

// TestPicturesHaveRatesOfTheirOwn: what vectors take says nothing of them.
func TestPicturesHaveRatesOfTheirOwn(t *testing.T) {
	st := emptyStore(t)
	cpu := results.CollectHost("").CPU
	if err := appendSample(st.Dir(), sample{cpu, "go", "mappo", "short", 1000}); err != nil {
		t.Fatal(err)
	}
	var es []experiment.Config
	for _, task := range []string{"balance", "chicken_in_the_matrix__repeated", "clean_up", "navigation", "stag_hunt_in_the_matrix__repeated"} {
		es = append(es, make1(t, Request{Task: task, Method: "mappo", Budget: "short", Seed: 1}))
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
