// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/viz"
)

func TestTeamsSetMethodsBesideRandomAndScriptedPlay(t *testing.T) {
	teams, err := TeamsOf("balance", []string{"mappo", "mappo-cermic"}, "smoke", 2, []int{2, 4}, "explore.alpha=0.5")
	if err != nil || len(teams.Experiments) != 8 {
		t.Fatalf("%d experiments, %v; want two seeds of four", len(teams.Experiments), err)
	}
	if first, last := teams.Experiments[0].Label(), teams.Experiments[7].Label(); first != "mappo task.n_agents=2" || last != "mappo-cermic explore.alpha=0.5" {
		t.Errorf("from %q to %q", first, last)
	}
	st := libtest.Store(t)
	table, err := teams.Table(st)
	if err != nil || len(table.Rows) != 4 || table.Rows[0][0] != "random" || !strings.Contains(table.Rows[1][2], "±") || table.Rows[3][2] != viz.Missing {
		t.Errorf("an empty store gives %+v, %v", table, err)
	}
	if differences, err := teams.Differences(st); err != nil || len(differences.Rows) != 0 {
		t.Errorf("an empty store has the differences %+v, %v", differences, err)
	}
	if rewarded, err := teams.Rewarded(st); err != nil || len(rewarded.Rows) != 2 || rewarded.Rows[1][2] != viz.Missing {
		t.Errorf("an empty store is rewarded %+v, %v", rewarded, err)
	}
	if _, err := teams.Plot(st); err != nil {
		t.Error(err)
	}
	if _, err := TeamsOf("balance", nil, "smoke", 1, []int{2}); err == nil || !strings.Contains(err.Error(), "method") {
		t.Errorf("no method: %v", err)
	}
	if _, err := TeamsOf("give_way", []string{"mappo"}, "smoke", 1, []int{2}); err == nil || !strings.Contains(err.Error(), "n_agents") {
		t.Errorf("a task with a fixed number of agents: %v", err)
	}
}

func TestAgentsOfATeamShareItsScore(t *testing.T) {
	teams, err := TeamsOf("balance", []string{"mappo", "mace"}, "smoke", 3, []int{2, 4})
	if err != nil {
		t.Fatal(err)
	}
	score := map[string][]float64{ // by label, seed by seed
		"mappo task.n_agents=2": {0, 2, 4}, "mace task.n_agents=2": {16, 18, 20},
		"mappo": {40, 40, 40}, "mace": {40, 40, 40}, // all alike: no test
	}
	st := ended(t, teams.Experiments, score, func(last *results.Eval, x float64) { last.Scores = []float64{x} })
	table, err := teams.Table(st)
	if err != nil || table.Rows[2][1] != "1 [-1.48, 3.48] (3)" || table.Rows[3][2] != "10 (3)" {
		t.Errorf("%q, %v", table.Rows, err)
	}
	differences, err := teams.Differences(st)
	if err != nil || len(differences.Rows) != 1 {
		t.Fatalf("%+v, %v; want one row, of two agents", differences, err)
	}
	// Means 9 and 1, variances 1 and 1, three each: 8 ± 2.776 · √(2/3), t = 9.80 of four degrees of freedom.
	if want := []string{"2", "MACE", "8 [5.73, 10.3]", "0.0012 (Holm over 2 comparisons)", "3 and 3", "2"}; !slices.Equal(differences.Rows[0], want) {
		t.Errorf("%q, want %q", differences.Rows[0], want)
	}
}

// On the sparse reward that no run ever met, teams that differ have not learned to.
func TestTeamsThatWereNeverRewardedAreNotCompared(t *testing.T) {
	teams, err := TeamsOf("balance", []string{"mappo", "mace"}, "smoke", 3, []int{2, 4})
	if err != nil {
		t.Fatal(err)
	}
	var rs []*results.Record
	for _, e := range teams.Experiments {
		r, met := libtest.Record(t, e, cermiclib.MethodOf(e)), 0.
		if r.Method == "mace" {
			r.Evals[len(r.Evals)-1].Scores = []float64{100 + float64(e.Seed)}
			if e.Label() == "mace" { // four agents
				met = 0.1
			}
		}
		r.Scalars = map[string]results.Points{"extrinsic": {{Value: met}}}
		rs = append(rs, r)
	}
	d, err := teams.Differences(libtest.Committed(t, rs...))
	if err != nil || len(d.Rows) != 1 || d.Rows[0][0] != "4" {
		t.Errorf("%q, %v; want four agents alone", d.Rows, err)
	}
}
