// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func TestCurvesOfGroupsHaveAPanelForEach(t *testing.T) {
	r := &results.Record{Task: "vmas/simple_adversary", Method: "mappo", Evals: []results.Eval{
		{Frames: 6000, Scores: []float64{-40}, Groups: map[string][]float64{"adversary": {-110}, "agent": {30}}},
		{Frames: 60000, Scores: []float64{-20}, Groups: map[string][]float64{"adversary": {-90, -70}, "agent": {40, 40}}},
	}}
	panels, err := GroupCurves([]*results.Record{r}, "simple_adversary")
	if err != nil || len(panels.Rows) != 1 || len(panels.Rows[0]) != 2 {
		t.Fatalf("%+v, %v", panels.Rows, err)
	}
	if low := panels.Rows[0][0].Y.Min; low > -117 { // BenchMARL's are there, too
		t.Errorf("the adversary's panel begins at %g", low)
	}
	if s := viz.GroupReturns(plan.Groups([]*results.Record{r}), "adversary"); len(s) != 1 || !slices.Equal(s[0].Y[0], []float64{-110, -80}) {
		t.Errorf("series are %+v", s)
	}
	if _, err := GroupCurves(nil, "balance"); err == nil || !strings.Contains(err.Error(), "one group") {
		t.Errorf("got %v", err)
	}
}
