// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
)

// rewardedRun is a run of a method on a task whose rollout batches had these mean rewards.
func rewardedRun(t *testing.T, task, method string, seed uint64, rewards ...float64) *results.Record {
	t.Helper()
	e, err := plan.New(plan.Request{Task: task, Method: method, Budget: "smoke", Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	r := libtest.Record(t, e, method)
	r.Scalars = map[string]results.Points{}
	for i, v := range rewards {
		r.Scalars["extrinsic"] = append(r.Scalars["extrinsic"], results.Point{Frames: i + 1, Value: v})
	}
	return r
}

func TestRewardedSaysHowOftenSuccessWasMet(t *testing.T) {
	st := libtest.Committed(t,
		rewardedRun(t, "wheel", "mappo", 1, 0, 0, 0, 0), rewardedRun(t, "wheel", "mappo", 2, 0, 0, 0, 0),
		rewardedRun(t, "wheel", "mace", 1, 0, 0.1, 0.2, 0), rewardedRun(t, "wheel", "mace", 2, 0.1, 0.1, 0.2, 0),
		rewardedRun(t, "balance", "mace", 1, append([]float64{0.1}, make([]float64, 300)...)...), rewardedRun(t, "flocking", "mace", 1))
	r, err := RewardedOf(st, []string{"mappo", "mace"}, "smoke")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, row := range r.Table().Rows {
		rows[row[0]] = row[1:]
	}
	for task, want := range map[string][]string{"Wheel*": {"0 % × 2", "50, 75 %"}, "Balanc*": {"–", "under 1 % × 1"}, "Flocki*": {"–", "–"}} {
		if !slices.Equal(rows[task], want) {
			t.Errorf("%s: %q, want %q", task, rows[task], want)
		}
	}
	if len(rows) != 7 { // starred columns of VMAS
		t.Errorf("rows %v", rows)
	}
	// Means 0.625 and 0, variances 1/32 and 0, two each: Welch's interval is Student's of one degree of freedom, ± 12.7
	// · 0.125.
	if d := r.Differences().Rows; len(d) != 1 || !slices.Equal(d[0][:3], []string{"Wheel*", "MACE", "0.625 [-0.963, 2.21]"}) {
		t.Errorf("%q", d)
	}
	if _, err := r.Plot(); err != nil {
		t.Error(err)
	}
	if _, err := RewardedOf(st, []string{"mapo"}, "smoke"); err == nil || !strings.Contains(err.Error(), "mappo") {
		t.Errorf("a mistyped method: %v", err)
	}
}
