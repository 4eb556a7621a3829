// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
)

func TestTheFirstRunWithWeightsIsWatched(t *testing.T) {
	st := libtest.Store(t)
	es, err := plan.Grid([]string{"vmas/ball_trajectory"}, []string{"mappo"}, "smoke", 2, "budget.frames=1000", "learner.critic_hidden=8", "policy.hidden=8")
	if err != nil {
		t.Fatal(err)
	}
	var rs []*results.Record
	for _, e := range es {
		r, err := experiment.Run(t.Context(), e, st)
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	if err := os.Remove(filepath.Join(st.Dir(), rs[0].ID, "checkpoint.safetensors")); err != nil {
		t.Fatal(err)
	}
	scenes, about, err := Watch(t.Context(), st, plan.Groups(rs))
	if err != nil || len(scenes) < 2 || !strings.Contains(about, "seed 2, trained for 1000 frames") {
		t.Errorf("%d scenes, %q, %v; want those of seed 2", len(scenes), about, err)
	}
	if scenes, about, err := Watch(t.Context(), st, plan.Groups(rs[:1])); err != nil || scenes != nil || !strings.Contains(about, "train -again "+rs[0].ID) {
		t.Errorf("%d scenes, %q, %v; want none and what to do", len(scenes), about, err)
	}
}
