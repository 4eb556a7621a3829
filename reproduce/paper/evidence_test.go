// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

// onTask is a source of MAPPO and MAPPO-CERMIC, three seeds each about these means on some tasks.
func onTasks(means map[string][2]float64) scripted {
	return func(t Trial) []float64 {
		m, ok := means[t.Task]
		switch {
		case ok && t.Method == "mappo":
			return around(m[0])
		case ok && t.Method == "mappo-cermic":
			return around(m[1])
		}
		return nil
	}
}

// decided is the verdict of a claim.
func decided(t *testing.T, id string, sources ...Source) Verdict {
	t.Helper()
	claim, err := FindClaim(id)
	if err != nil {
		t.Fatal(err)
	}
	v, err := claim.Decide(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A difference on one task has one p, that of its method's family of 15 tasks: in the claim, in the table and in two
// columns of it. Between the two columns' p lies another task's, so that Holm's correction of the two alone would give
// others.
func TestADifferenceHasOnePWhereverItStands(t *testing.T) {
	src := onTasks(map[string][2]float64{"smac/protoss_5_vs_5": {0, 0.9}, "vmas/balance": {0, 0.6}, "smac/zerg_5_vs_5": {0, 0.4}})
	want := map[string]string{}
	for _, f := range decided(t, "lifts-mappo", src).Findings {
		want[f.On] = fmt.Sprintf("%.2g (Holm over 15 comparisons)", f.P)
		if !strings.Contains(f.String(), "(Holm over 15 comparisons)") {
			t.Errorf("a finding does not print its family: %s", f)
		}
	}
	two, err := Sota.Only("pro5v5*", "zer5v5*")
	if err != nil {
		t.Fatal(err)
	}
	for table, rows := range map[*Benchmark]int{Sota: 3, two: 2} {
		d, err := table.Differences(src, "MAPPO")
		if err != nil || len(d.Rows) != rows {
			t.Fatalf("%q, %v; want %d rows", d.Rows, err, rows)
		}
		for _, row := range d.Rows {
			task, err := FindTask(row[0])
			if err != nil || row[3] != want[task.Title()] {
				t.Errorf("%s: p = %s, the claim has %s (%v)", row[0], row[3], want[task.Title()], err)
			}
		}
	}
}

// scaled is a source on whose tasks scripted play is 100 above random play: effects up to 1 do not matter.
type scaled struct{ scripted }

func (scaled) Scale(string) (Scale, error) { return Scale{To: 100}, nil }

// Welch's interval of two means of three seeds with standard deviation 0.1 is ± 0.227; all p are below .05 in a family
// of one.
func TestAnEffectCountsBeyondDifferencesThatDoNotMatter(t *testing.T) {
	for _, c := range []struct {
		effect float64
		says   string
		state  State
	}{
		{0.7, "no difference that matters: within ±1", Undecided}, {1.1, "it may not matter: not all beyond ±1", Undecided}, {1.3, "significant;", Supported},
		{-0.7, "no difference that matters", Undecided}, {-1.3, "significant;", Contradicted},
	} {
		src := scaled{onTasks(map[string][2]float64{"vmas/balance": {0, c.effect}})}
		found, err := findings(against(suite(VMAS)[5:6], "mappo-cermic", "mappo"), src)
		if err != nil || len(found) != 1 || !found[0].significant() {
			t.Fatalf("%v, %v", found, err)
		}
		if state, why := every.decide(found, 1); state != c.state || !strings.Contains(found[0].String(), c.says) {
			t.Errorf("an effect of %g is %s (%s): %s", c.effect, state, why, found[0])
		}
	}
}

// trained is a source whose runs have settings and scalars, by trial.
type trained struct {
	scripted
	with func(Trial) (reward string, scalars map[string]float64)
}

func (s trained) Runs(t Trial) (results.Group, error) {
	g, err := s.scripted.Runs(t)
	for _, r := range g.Runs {
		reward, scalars := s.with(t)
		r.Experiment = []byte(`{"task":{"reward":"` + reward + `"}}`)
		r.Scalars = map[string]results.Points{}
		for name, value := range scalars {
			r.Scalars[name] = results.Points{{Value: 0}, {Value: value}}
		}
	}
	return g, err
}

// Sparse training is compared where some run met the reward; the dense side of a comparison is always rewarded and does
// not count.
func TestRunsThatWereNeverRewardedTestNothing(t *testing.T) {
	rewarded := func(methods ...string) trained {
		return trained{func(t Trial) []float64 { return around(float64(5 + len(t.Method) + len(t.Set))) }, func(t Trial) (string, map[string]float64) {
			switch {
			case slices.Contains(t.Set, "task.reward=dense"):
				return "dense", map[string]float64{rewardScalar: 1}
			case slices.Contains(methods, t.Method):
				return "sparse", map[string]float64{rewardScalar: 0.1}
			}
			return "sparse", map[string]float64{rewardScalar: 0}
		}}
	}
	for _, c := range []struct {
		claim   string
		methods []string
		state   State
	}{
		{"dense-training-lower", nil, NotTested}, {"dense-training-lower", []string{"cpm", "qplex-ices", "mappo-cermic"}, Contradicted},
		{"narrower-bands", nil, NotTested}, {"sparse-sota", nil, Undecided}, {"curves-above", nil, NotTested}, {"curves-above", []string{"mappo-cermic"}, Undecided},
	} {
		v := decided(t, c.claim, rewarded(c.methods...))
		if v.State != c.state {
			t.Errorf("%s, rewarded %v: %s, want %s: %s", c.claim, c.methods, v.State, c.state, v.Reason)
		}
		if never := strings.Contains(v.Reason, "not tested: never rewarded"); never != (c.methods == nil) {
			t.Errorf("%s, rewarded %v: says that runs were never rewarded: %v", c.claim, c.methods, never)
		}
	}
}

// What a mechanism of CERMIC is worth is not tested where it was inactive at the end of training; runs without the
// mechanism do not count.
func TestAnInactiveMechanismIsNotTested(t *testing.T) {
	for _, c := range []struct {
		before, calib float64
		want          State
	}{{0.5, 0.1, Supported}, {0.04, 0.1, NotTested}, {0.5, 0.0009, NotTested}} {
		src := trained{func(t Trial) []float64 {
			if len(t.Set) == 0 {
				return around(5)
			}
			return around(1)
		}, func(t Trial) (string, map[string]float64) {
			if len(t.Set) > 0 { // without L_exploit, or another memory
				return "dense", nil
			}
			return "dense", map[string]float64{"cermic/context_before": c.before, "cermic/calib_std": c.calib}
		}}
		for _, id := range []string{"exploit-loss-needed", "graph-above-gru"} {
			if v := decided(t, id, src); v.State != c.want || c.want == NotTested && !strings.Contains(v.Reason, "not tested: inactive mechanism") {
				t.Errorf("%s with %+v: %s: %s", id, c, v.State, v.Reason)
			}
		}
		if v := decided(t, "alpha-lowers-returns", src); v.State != Supported {
			t.Errorf("α is no such mechanism: %s: %s", v.State, v.Reason)
		}
	}
}

// Runs with Theorem 1's bonus never decide a claim of the paper: they have a verdict of their own.
func TestTheoremsBonusHasAVerdictOfItsOwn(t *testing.T) {
	v := decided(t, "lifts-mappo", scripted(func(t Trial) []float64 {
		return map[string][]float64{"mappo": around(1), "mappo-cermic-ucb": around(5)}[t.Method]
	}))
	if v.State != NotTested || len(v.Findings) != 0 || len(v.Theorem) != 1 || v.Theorem[0].State != Supported {
		t.Fatalf("%s, %d findings, and %+v", v.State, len(v.Findings), v.Theorem)
	}
	if got := v.Theorem[0].Findings[0].String(); !strings.HasPrefix(got, "Disperse: MAPPO-CERMIC-UCB − MAPPO = 4 ") {
		t.Error(got)
	}
	if text := strings.Join(v.Lines(), "\n"); !strings.Contains(text, "Theorem 1's bonus (ours, not the paper's method), budget short: supported.") {
		t.Error(text)
	}
	if v := decided(t, "db-falls-with-agents", scripted(func(Trial) []float64 { return around(1) })); len(v.Theorem) != 0 {
		t.Error("a claim without CERMIC has a second verdict")
	}
}
