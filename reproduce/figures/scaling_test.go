// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"runtime"
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func TestTheOverviewExtrapolatesFromWhatWasMeasuredHereAndFromNothingElse(t *testing.T) {
	if testing.Short() {
		t.Skip("plans all tables")
	}
	st := libtest.Store(t)
	read := func() (row map[string]string) {
		table := must.Get(Overview(st, 1, 4))(t)
		if len(table.Rows) != len(paper.Benchmarks)*len(cermiclib.Presets) {
			t.Errorf("%d lines for %d tables at %d budgets", len(table.Rows), len(paper.Benchmarks), len(cermiclib.Presets))
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
	density, _ := plan.Benchmark(paper.Density, "short", 1)
	var runs []*results.Record
	for i, cpu := range []string{results.CollectHost("").CPU, "another processor"} {
		methods := map[string]bool{}
		for _, e := range density {
			e.Seed = uint64(90 + i) // which the table does not need
			if r := libtest.Record(t, e, e.Label()); !methods[cermiclib.MethodOf(e)] {
				methods[cermiclib.MethodOf(e)] = true
				r.Host.CPU, r.Host.Cores, r.Host.Seconds = cpu, runtime.NumCPU(), float64(r.Frames)/[]float64{1000, 7}[i]
				runs = append(runs, r)
			}
		}
	}
	st = libtest.Committed(t, runs...)
	row := read()
	left := 0.0
	for _, e := range density {
		left += float64(e.Budget.Frames) / 1000 / 3600
	}
	where := machines(4)
	for i, m := range where {
		want := max(left/m.runs, 600_000.0/1000/3600) // the longest run bounds it
		if i == 0 {
			want = left
		}
		if got := row[m.name]; got != duration(want) {
			t.Errorf("%s: %q, want %s", m.name, got, duration(want))
		}
	}
}

func TestDurationIsReadWithoutExponents(t *testing.T) {
	for hours, want := range map[float64]string{
		0.000249: "0.9 s", 0.00796: "29 s", 0.346: "21 min", 1.58: "1.58 h", 50.7: "50.7 h", 998: "998 h",
		999.7: "1,000 h", 1804: "1,800 h", 18_421: "18,400 h", 2_345_678: "2,350,000 h",
	} {
		if got := duration(hours); got != want {
			t.Errorf("%v h are written %q, want %q", hours, got, want)
		}
	}
}

func TestGrowthIsMeasuredAtThreeSizesOfEachMethod(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the graphs of six networks")
	}
	if _, err := results.ProcessorSeconds(); err != nil {
		t.Skip(err)
	}
	g, err := MeasureGrowth(t.Context(), 1, 1, []string{"policy.hidden=8", "learner.critic_hidden=8", "explore.cermic_minibatch=32",
		"explore.memory.hidden=8", "explore.d_s=8", "explore.d_x=8", "explore.phi_hidden=8", "explore.c_bar=8"})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Series) != 2 || len(g.Table.Rows) != 3 || len(g.Table.Rows[2]) != 3 || g.Table.Rows[2][0] != "180" {
		t.Errorf("%d series, table %v", len(g.Series), g.Table.Rows)
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
