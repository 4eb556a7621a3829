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
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// sweeps are one of each kind, of MAPPO and, but for the density, of another method.
func sweeps(t *testing.T, other string, seeds int, changes ...string) map[string]*Sweep {
	t.Helper()
	methods, values := []string{"mappo", other}, []int{2, 4}
	return map[string]*Sweep{
		"teams":      must.Get(TeamsOf("balance", methods, "smoke", seeds, values, changes...))(t),
		"thresholds": must.Get(ThresholdsOf([]string{"navigation"}, methods, "smoke", seeds, values, changes...))(t),
		"density":    must.Get(DensityAxis("balance", other, "smoke", seeds, []int{1}, changes...))(t),
	}
}

func TestSweepsListTheirExperimentsAndNeedNoRuns(t *testing.T) {
	st := libtest.Store(t)
	for name, s := range sweeps(t, "mappo-cermic", 1, "explore.alpha=0.5") {
		var labels []string
		for _, e := range s.Experiments {
			labels = append(labels, e.Label())
		}
		want := map[string][]string{
			"teams": {"mappo task.n_agents=2", "mappo-cermic explore.alpha=0.5 task.n_agents=2", "mappo", "mappo-cermic explore.alpha=0.5"},
			"thresholds": {"mappo task.milestones=2 task.reward=sparse", "mappo-cermic explore.alpha=0.5 task.milestones=2 task.reward=sparse",
				"mappo task.milestones=4 task.reward=sparse", "mappo-cermic explore.alpha=0.5 task.milestones=4 task.reward=sparse"},
			"density": {"mappo-cermic explore.alpha=0.5", "mappo-cermic explore.alpha=0.5 task.reward=dense"},
		}[name]
		if !slices.Equal(labels, want) {
			t.Errorf("%s: experiments %q, want %q", name, labels, want)
		}
		panels, err := s.Plot(st)
		if err != nil || len(panels.Rows) != 1 || len(panels.Rows[0]) != len(s.measures) {
			t.Errorf("%s: %v, %v", name, panels.Rows, err)
		}
		table, err := s.Table(st)
		policies := map[string]int{"teams": 2, "thresholds": 1}[name]
		if err != nil || len(table.Rows) != policies+len(s.methods) || policies > 0 && (table.Rows[0][1] != "random" || table.Rows[0][2] == viz.Missing) ||
			slices.ContainsFunc(table.Rows[policies:], func(row []string) bool { return row[2] != viz.Missing }) {
			t.Errorf("%s: an empty store gives %q, %v", name, table.Rows, err)
		}
		if rewarded, err := s.Rewarded(st); err != nil || len(rewarded.Rows) != len(s.methods) || rewarded.Rows[0][2] != viz.Missing {
			t.Errorf("%s: an empty store is rewarded %q, %v", name, rewarded.Rows, err)
		}
		if differences, err := s.Differences(st); err != nil || len(differences.Rows) != 0 {
			t.Errorf("%s: an empty store has the differences %q, %v", name, differences.Rows, err)
		}
	}
	for want, err := range map[string]error{
		"method":     second(TeamsOf("balance", nil, "smoke", 1, []int{2})),
		"n_agents":   second(TeamsOf("give_way", []string{"mappo"}, "smoke", 1, []int{2})),
		"milestones": second(ThresholdsOf([]string{"dispersion"}, []string{"mappo"}, "smoke", 1, []int{2})),
		"mappo":      second(RewardedOf(st, []string{"mapo"}, "smoke")),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Teams of two and two partial rewards have means 9 and 1, variances 1 and 1, and three seeds each. The difference is
// 8 ± 2.776 · √(2/3), with t = 9.80 and four degrees of freedom. Runs that are all alike have no test.
func TestSweepsCompareMethodsWithTheFirst(t *testing.T) {
	values := map[string][]float64{ // by label, seed by seed
		"mappo task.n_agents=2": {0, 2, 4}, "mace task.n_agents=2": {16, 18, 20}, "mappo": {40, 40, 40}, "mace": {40, 40, 40},
		"mappo task.milestones=2 task.reward=sparse": {0, 1, 2}, "mace task.milestones=2 task.reward=sparse": {8, 9, 10},
		"mappo task.milestones=4 task.reward=sparse": {10, 10, 10}, "mace task.milestones=4 task.reward=sparse": {10, 10, 10},
	}
	for name, s := range sweeps(t, "mace", 3) {
		if name == "density" {
			continue
		}
		st := ended(t, s.Experiments, values, func(last *results.Eval, x float64) {
			last.Scores, last.Sparse = []float64{x}, []float64{x}
		})
		d, err := s.Differences(st)
		task := map[string]string{"teams": "balance", "thresholds": "navigation"}[name]
		want := []string{task, "2", "MACE", "8 [5.73, 10.3]", "0.0012 (Holm over 2 comparisons)", "3 and 3"}
		if err != nil || len(d.Rows) != 1 || !slices.Equal(d.Rows[0], want) {
			t.Errorf("%s: %q, %v, want %q", name, d.Rows, err, want)
		}
		table, err := s.Table(st)
		last := table.Rows[len(table.Rows)-1]
		if four := map[string]string{"teams": "10 (3)", "thresholds": "10 (3)"}[name]; err != nil || last[2] != "9 [6.52, 11.5] (3)" || last[3] != four {
			t.Errorf("%s: %q, %v", name, last, err)
		}
	}
}

// On the sparse reward that no run ever met, teams that differ have not learned to.
func TestTeamsThatWereNeverRewardedAreNotCompared(t *testing.T) {
	teams := sweeps(t, "mace", 3)["teams"]
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
	if err != nil || len(d.Rows) != 1 || d.Rows[0][1] != "4" {
		t.Errorf("%q, %v; want four agents alone", d.Rows, err)
	}
}

func TestRewardedSaysHowOftenSuccessWasMet(t *testing.T) {
	run := func(task, method string, seed uint64, rewards ...float64) *results.Record {
		r := recorded(t, plan.Request{Task: task, Method: method, Budget: "smoke", Seed: seed})
		r.Scalars = map[string]results.Points{}
		for i, v := range rewards {
			r.Scalars["extrinsic"] = append(r.Scalars["extrinsic"], results.Point{Frames: i + 1, Value: v})
		}
		return r
	}
	st := libtest.Committed(t,
		run("wheel", "mappo", 1, 0, 0, 0, 0), run("wheel", "mappo", 2, 0, 0, 0, 0),
		run("wheel", "mace", 1, 0, 0.1, 0.2, 0), run("wheel", "mace", 2, 0.1, 0.1, 0.2, 0),
		run("balance", "mace", 1, append([]float64{0.1}, make([]float64, 300)...)...), run("flocking", "mace", 1))
	s := must.Get(RewardedOf(st, []string{"mappo", "mace"}, "smoke"))(t)
	table, err := s.Rewarded(st)
	if err != nil || len(table.Header) != 9 { // seven starred tasks of VMAS
		t.Fatalf("%q, %v", table.Header, err)
	}
	for task, want := range map[string][2]string{"Wheel*": {"0 % × 2", "50, 75 %"}, "Balanc*": {"–", "under 1 % × 1"}, "Flocki*": {"–", "–"}} {
		j := slices.Index(table.Header, task)
		if got := [2]string{table.Rows[0][j], table.Rows[1][j]}; got != want {
			t.Errorf("%s: %q, want %q", task, got, want)
		}
	}
	// Means 0.625 and 0, variances 1/32 and 0, two each: Welch's interval is Student's of one degree of freedom, ± 12.7
	// · 0.125.
	if d, err := s.Differences(st); err != nil || len(d.Rows) != 1 || !slices.Equal(d.Rows[0][1:4], []string{"Wheel*", "MACE", "0.625 [-0.963, 2.21]"}) {
		t.Errorf("%q, %v", d.Rows, err)
	}
}

func TestValuesAreOfTheLastEvaluation(t *testing.T) {
	r := &results.Record{Evals: []results.Eval{{Success: []float64{1, 1}, Sparse: []float64{9}}, {Success: []float64{1, 0, 0, 0}, Sparse: []float64{2, 4}}}}
	if got := lastSuccess(r); got != 0.25 || !math.IsNaN(lastSuccess(&results.Record{})) {
		t.Errorf("one of four last episodes succeeds: %g", got)
	}
	s := sweeps(t, "mace", 1)["thresholds"]
	if got := s.measures[0].of(r, 2); got != 3 {
		t.Errorf("the last evaluation earned %g", got)
	}
}

// ended is a store of experiments whose last evaluations are set to the values of their labels, one per seed.
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
