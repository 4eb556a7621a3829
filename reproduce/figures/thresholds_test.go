// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/viz"
)

func TestThresholdsSetMethodsBesideRandomPlayForEachNumberOfParts(t *testing.T) {
	th, err := ThresholdsOf([]string{"navigation"}, []string{"mappo", "mappo-cermic"}, "smoke", 2, []int{1, 4}, "explore.alpha=0.5")
	if err != nil || len(th.Experiments) != 8 {
		t.Fatalf("%d experiments, %v; want two seeds of four", len(th.Experiments), err)
	}
	if first, last := th.Experiments[0].Label(), th.Experiments[7].Label(); first != "mappo task.reward=sparse" || last != "mappo-cermic explore.alpha=0.5 task.milestones=4 task.reward=sparse" {
		t.Errorf("from %q to %q", first, last)
	}
	st := libtest.Store(t)
	table, err := th.Table(st)
	if err != nil || len(table.Rows) != 3 || table.Rows[0][1] != "random" || table.Rows[0][2] != "0" || table.Rows[2][3] != viz.Missing || table.Rows[2][4] != viz.Missing {
		t.Errorf("an empty store gives %+v, %v", table, err)
	}
	if differences, err := th.Differences(st); err != nil || len(differences.Rows) != 0 {
		t.Errorf("an empty store has the differences %+v, %v", differences, err)
	}
	if plots, err := th.Plots(st); err != nil || len(plots) != 1 {
		t.Errorf("%d panels, %v", len(plots), err)
	}
	if _, err := ThresholdsOf([]string{"navigation"}, nil, "smoke", 1, []int{2}); err == nil || !strings.Contains(err.Error(), "method") {
		t.Errorf("no method: %v", err)
	}
	if _, err := ThresholdsOf([]string{"dispersion"}, []string{"mappo"}, "smoke", 1, []int{2}); err == nil || !strings.Contains(err.Error(), "milestones") {
		t.Errorf("a task without parts: %v", err)
	}
}

func TestAMethodBeginsToLearnWhereItEarnsMoreThanRandomPlay(t *testing.T) {
	for _, c := range []struct {
		earned [][]float64 // [number of parts][seed]
		chance []float64
		want   string
	}{
		{[][]float64{{0}, {0.5}, {3}}, []float64{0, 1, 1}, "4?"},
		{[][]float64{{0, 0}, {4, 5, 4.5}, {9, 9.5}}, []float64{0, 0, 1}, "2"},
		{[][]float64{{0, 0}, {0, 8}, {9, 9.1}}, []float64{0, 0, 1}, "4"}, // two seeds so far apart tell nothing
		{[][]float64{nil, {0}, nil}, []float64{0, 0, 1}, viz.Missing},
	} {
		if got := begins([]int{1, 2, 4}, c.earned, c.chance); got != c.want {
			t.Errorf("%v beside %v begins at %s, want %s", c.earned, c.chance, got, c.want)
		}
	}
	runs := []*results.Record{{Evals: []results.Eval{{Sparse: []float64{9}}, {Sparse: []float64{2, 4}}}}, {}}
	if got, _ := earned(results.Group{Runs: runs}, 1); len(got) != 1 || math.Abs(got[0]-3) > 1e-12 {
		t.Errorf("the last evaluation earned %v", got)
	}
}

func TestThresholdsSayWhereMethodsDifferFromTheFirst(t *testing.T) {
	th, err := ThresholdsOf([]string{"navigation"}, []string{"mappo", "mace"}, "smoke", 3, []int{2, 4})
	if err != nil {
		t.Fatal(err)
	}
	earn := map[string][]float64{ // by label, seed by seed
		"mappo task.milestones=2 task.reward=sparse": {0, 1, 2}, "mace task.milestones=2 task.reward=sparse": {8, 9, 10},
		"mappo task.milestones=4 task.reward=sparse": {10, 10, 10}, "mace task.milestones=4 task.reward=sparse": {10, 10, 10}, // all alike: no test
	}
	st := ended(t, th.Experiments, earn, func(last *results.Eval, x float64) {
		last.Sparse = slices.Repeat([]float64{x}, len(last.Scores))
	})
	table, err := th.Differences(st)
	if err != nil || len(table.Rows) != 1 {
		t.Fatalf("%+v, %v; want one row, of two partial rewards", table, err)
	}
	// Means 9 and 1, variances 1 and 1, three each: 8 ± 2.776 · √(2/3), t = 9.80 of four degrees of freedom.
	if want := []string{"navigation", "2", "MACE", "8 [5.73, 10.3]", "0.0012 (Holm over 2 comparisons)", "3 and 3", "2"}; !slices.Equal(table.Rows[0], want) {
		t.Errorf("%q, want %q", table.Rows[0], want)
	}
}

// ended is a store of experiments whose last evaluations are set to the values of their labels, one a seed.
func ended(t *testing.T, experiments []experiment.Config, values map[string][]float64, set func(*results.Eval, float64)) *results.Store {
	t.Helper()
	var rs []*results.Record
	for _, e := range experiments {
		r := libtest.Record(t, e, cermiclib.MethodOf(e))
		set(&r.Evals[len(r.Evals)-1], values[e.Label()][e.Seed-1])
		point := results.Points{{Frames: r.Frames, Value: 1}}
		r.Scalars = map[string]results.Points{trainingReturn: point, r.Task: point} // the second on no other task
		rs = append(rs, r)
	}
	return libtest.Committed(t, rs...)
}
