// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/records"
	"cermic/viz"
)

func TestRobustnessIsThePlansStudy(t *testing.T) {
	study := DefaultRobustness()
	es := must.Get(study.Experiments())(t)
	// Fourteen arms on one world and thirteen on two, with ten seeds; six arms on nine worlds with five.
	if want := 14*10 + 13*2*10 + 6*9*5; len(es) != want || len(study.Worlds) != 12 {
		t.Errorf("%d experiments on %d worlds, want %d on 12", len(es), len(study.Worlds), want)
	}
	for _, e := range es {
		if e.Seed < 21 || e.Seed > 30 {
			t.Fatalf("%s has seed %d, which the plan does not name", e.Label(), e.Seed)
		}
	}
	st := libtest.Store(t)
	box, err := study.Verdict(st)
	if err != nil || box.Mark != viz.Open || !strings.Contains(strings.Join(box.Lines, " "), "0 of 10") {
		t.Errorf("an empty store gives %+v, %v", box, err)
	}
	table, err := study.Table(st, 0)
	if err != nil || len(table.Rows) != len(robustnessArms) || table.Rows[0][1] != viz.Missing {
		t.Errorf("an empty store gives %+v, %v", table, err)
	}
	st.Base(records.Layer())
	all, why := must.Get(study.Coverage(st, 0))(t), must.Get(study.Why(st))(t)
	rest := []string{all.Legend[len(probed)].Name, all.Legend[len(all.Legend)-1].Name} // behind the probed arms
	if len(why.Legend) != len(probed) || len(all.Legend) != len(probed)+2 || !slices.Equal(slices.Sorted(slices.Values(rest)), []string{"MACE", "others"}) {
		t.Fatalf("of %d arms %d are in the legend, and then %v", len(probed), len(why.Legend), rest)
	}
	for _, one := range why.Legend { // an arm looks the same in every figure
		i := slices.IndexFunc(all.Legend, func(s viz.Style) bool { return s.Name == one.Name })
		if i < 0 || all.Legend[i].Color != one.Color {
			t.Errorf("%s is drawn as %v in one figure and otherwise in another", one.Name, one.Color)
		}
	}
}

// A run has succeeded from the first evaluation on behind which none fails.
func TestFramesToSuccess(t *testing.T) {
	run := func(successes ...float64) *results.Record {
		r := &results.Record{Frames: 100 * len(successes)}
		for k, s := range successes {
			r.Evals = append(r.Evals, results.Eval{Frames: 100 * (k + 1), Success: []float64{s, s}})
		}
		return r
	}
	for _, c := range []struct {
		run   *results.Record
		time  float64
		event bool
	}{
		{run(0, 1, .2, .5, 1), 400, true}, {run(1, 1, 0), 300, false}, {run(.6), 100, true}, {run(), 0, false},
	} {
		if got := waited(c.run); got.Time != c.time || got.Event != c.event {
			t.Errorf("%v waits %+v, want %g, %v", c.run.Evals, got, c.time, c.event)
		}
	}
	if k := succeeded(results.Group{Runs: []*results.Record{run(0, 1), run(1, 0), run(.5), run()}}); k != 2 {
		t.Errorf("%d runs succeed, want 2", k)
	}
}
