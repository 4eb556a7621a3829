// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"math"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/viz"
)

func TestTheDensityAxisGoesFromOnePartToTheDenseReward(t *testing.T) {
	axis, err := DensityAxis("balance", "mappo", "smoke", 2, []int{1, 4})
	if err != nil || len(axis.Experiments) != 6 {
		t.Fatalf("%d experiments, %v; want two seeds of three", len(axis.Experiments), err)
	}
	if first, last := axis.Experiments[0].Label(), axis.Experiments[5].Label(); first != "mappo" || last != "mappo task.reward=dense" {
		t.Errorf("from %q to %q", first, last)
	}
	for method, want := range map[string]string{"mappo": "mappo", "mappo-cermic": "mappo-cermic explore.alpha=0.5"} {
		changed, err := DensityAxis("balance", method, "smoke", 1, []int{1}, "explore.alpha=0.5")
		if err != nil || changed.Experiments[0].Label() != want {
			t.Errorf("with α changed %s is trained as %q, %v; want %q", method, changed.Experiments[0].Label(), err, want)
		}
	}
	st := libtest.Store(t)
	for _, bars := range []func(*results.Store) ([]viz.Group, error){axis.Scores, axis.Successes} {
		groups, err := bars(st)
		if err != nil || len(groups) != 1 || len(groups[0].Bars) != 3 || groups[0].Bars[1].Label != "4" || !math.IsNaN(groups[0].Bars[1].Value) {
			t.Errorf("an empty store gives %+v, %v", groups, err)
		}
	}
	last := &results.Record{Evals: []results.Eval{{Success: []float64{1, 1}}, {Success: []float64{1, 0, 0, 0}}}}
	if got := lastSuccess(last); got != 0.25 || !math.IsNaN(lastSuccess(&results.Record{})) {
		t.Errorf("one of four last episodes succeeds: %g", got)
	}
	if _, err := DensityAxis("dispersion", "mappo", "smoke", 1, []int{2}); err == nil || !strings.Contains(err.Error(), "milestones") {
		t.Errorf("a task without parts: %v", err)
	}
}
