// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
)

// scripted is a source whose runs of a trial have the scores that the function gives; nil: there are none.
type scripted func(Trial) []float64

func (scripted) Budget() string { return "short" }

func (scripted) Scale(string) (Scale, error) { return Scale{}, nil }

func (s scripted) Runs(t Trial) (g results.Group, err error) {
	for i, x := range s(t) {
		evals := []results.Eval{{Frames: 10, Scores: []float64{-x}}, {Frames: 100, Scores: []float64{x}}}
		g.Runs = append(g.Runs, &results.Record{ID: Label(t.Task+t.Method, t.Set), Task: t.Task, Seed: uint64(i), Frames: 100, Evals: evals})
	}
	return g, nil
}

func around(mean float64) []float64 { return []float64{mean - 0.1, mean, mean + 0.1} }

func TestClaimsAreDecidedByTheRuns(t *testing.T) {
	level := func(of map[string]float64) scripted {
		return func(t Trial) []float64 {
			if m, ok := of[t.Method]; ok {
				return around(m)
			}
			return nil
		}
	}
	except := func(s scripted, task string, scores ...float64) scripted { // CERMIC scores otherwise on a task
		return func(t Trial) []float64 {
			if t.Task == task && strings.HasSuffix(t.Method, "-cermic") {
				return scores
			}
			return s(t)
		}
	}
	better := level(map[string]float64{"mappo": 1, "mappo-cermic": 5, "qmix": 1, "qmix-cermic": 4})
	ten := scripted(func(t Trial) []float64 {
		if strings.HasSuffix(t.Method, "-cermic") {
			return around(5)
		}
		return around(1)
	})
	set := func(key string, with, without []float64) scripted {
		return func(t Trial) []float64 {
			if strings.Contains(strings.Join(t.Set, " "), key) {
				return with
			}
			return without
		}
	}
	wide, narrow := []float64{-1000, 0, 1000, 500, -500, 700, -700}, []float64{-1, 0, 1, 0.5, -0.5, 0.7, -0.7}
	for _, c := range []struct {
		claim  string
		source scripted
		want   State
	}{
		{"lifts-mappo", better, Supported},
		{"lifts-qmix", better, Supported},
		{"lifts-mappo", except(better, "vmas/balance", around(-3)...), Contradicted},
		{"lifts-mappo", except(better, "vmas/balance", 0, 1, 2), Undecided},
		{"lifts-mappo", except(better, "vmas/balance"), Undecided},
		{"lifts-mappo", scripted(func(t Trial) []float64 { return better(t)[:min(1, len(better(t)))] }), NotTested}, // one seed each
		{"lifts-mappo", level(nil), NotTested},
		{"slower-start", better, Supported}, // scores of the first quarter have the opposite sign
		{"slower-start", level(map[string]float64{"mappo": 5, "mappo-cermic": 1}), Contradicted},
		{"best-on-12", ten, Supported},
		{"best-on-12", except(except(except(ten, "vmas/balance", around(-3)...), "vmas/wheel", around(-3)...), "vmas/passage", around(-3)...), Supported},
		{"best-on-12", except(except(except(except(ten, "vmas/balance", around(-3)...), "vmas/wheel", around(-3)...), "vmas/passage", around(-3)...),
			"vmas/flocking", around(-3)...), Contradicted},
		{"best-on-12", scripted(func(t Trial) []float64 { // above seven of the others, not above one that scatters
			switch {
			case strings.HasSuffix(t.Method, "-cermic"):
				return around(5)
			case t.Method == "cpm":
				return []float64{-60, 30, 30}
			}
			return around(1)
		}), Undecided},
		{"best-on-12", scripted(func(t Trial) []float64 { // the other method with CERMIC may be as good as the best without
			switch {
			case t.Method == "mappo-cermic":
				return []float64{-60, 30, 30}
			case strings.HasSuffix(t.Method, "-cermic"):
				return around(1)
			}
			return around(5)
		}), Undecided},
		{"best-on-12", scripted(func(t Trial) []float64 { // p = .007 of one pair over 15 tasks; times the two of which one was chosen .014, times eight .058
			if strings.HasSuffix(t.Method, "-cermic") {
				return []float64{8.5, 9.5, 10.5}
			}
			return []float64{0, 1, 2}
		}), Supported},
		{"best-on-12", scripted(func(t Trial) []float64 {
			if strings.HasSuffix(t.Method, "-cermic") {
				return []float64{0, 1, 2}
			}
			return []float64{8.5, 9.5, 10.5}
		}), Undecided},
		{"curiosity-above-standard", level(map[string]float64{"mappo": 1, "qmix": 1, "mappo-eps": 1, "mappo-db": 3, "mace": 3, "qplex-ices": 3}), Supported},
		{"curiosity-above-standard", level(map[string]float64{"mappo": 1, "qmix": 1, "mappo-eps": 1, "mappo-db": 3, "mace": 3}), NotTested},
		{"agents-above-db", level(map[string]float64{"mappo-db": 8, "mappo-cermic": 80}), Supported},
		{"db-falls-with-agents", level(map[string]float64{"mappo-db": 80}), Supported}, // one score, shared among more agents
		{"explore-loss-needed", set("explore.alpha=0", around(1), around(5)), Supported},
		{"exploit-loss-needed", set("explore.exploit=false", around(5), around(1)), Contradicted},
		{"exploit-loss-stabilises", set("explore.exploit=false", wide, narrow), Supported},
		{"alpha-stabilises", set("explore.alpha=1", wide, narrow), Contradicted},
		{"graph-above-gru", set("explore.memory=gru", around(1), around(5)), Supported},
		{"dense-training-lower", set("task.reward=dense", around(1), around(5)), Supported},
		{"smaller-drop", scripted(func(t Trial) []float64 {
			if strings.Contains(strings.Join(t.Set, " "), "task.reward=dense") && t.Method != "mappo-cermic" {
				return around(1)
			}
			return around(5)
		}), Supported},
		{"noise-stable", scripted(func(t Trial) []float64 {
			if len(t.Set) != 3 {
				return nil // only the noisy variant is requested
			}
			if t.Method == "mappo" {
				return wide
			}
			return narrow
		}), Supported},
		{"strongest-on-melting-pot", scripted(func(t Trial) []float64 {
			gain := map[bool]float64{true: 9, false: 1}[strings.HasPrefix(t.Task, "meltingpot/")]
			if t.Method == "mappo" {
				return around(10)
			}
			return around(10 + gain)
		}), Supported},
		{"roles-gain", scripted(func(t Trial) []float64 {
			if t.Method == "mappo" {
				return around(10)
			}
			return around(map[bool]float64{true: 10.5, false: 19}[t.Task == "vmas/simple_adversary"])
		}), Contradicted},
		{"narrower-bands", scripted(func(t Trial) []float64 { return wide[:1] }), NotTested}, // one run has no variance
		{"bonus-fades", ten, NotTested},
		{"theorem-1", level(nil), Conditional},
		{"encounters-raise-bonus", ten, NotTested},
	} {
		claim := must.Get(FindClaim(c.claim))(t)
		v, err := claim.Decide(level(nil), c.source)
		if err != nil || v.State != c.want || v.Reason == "" {
			t.Errorf("%s is %s, want %s (%v): %s", c.claim, v.State, c.want, err, strings.Join(v.Lines(), "\n  "))
		}
		if box := v.Box(); box.Head != string(c.want) || !strings.Contains(box.Text, claim.Where()) {
			t.Errorf("%s: the box says %s: %s", c.claim, box.Head, box.Text)
		}
	}
}

// longer is a source of another budget.
type longer struct{ scripted }

func (longer) Budget() string { return "paper" }

// One run at another budget does not replace the runs that decide a claim, and does not count as more evidence.
func TestASourceCountsByWhatItTells(t *testing.T) {
	claim, _ := FindClaim("lifts-mappo")
	all := scripted(func(t Trial) []float64 {
		return map[string][]float64{"mappo": around(1), "mappo-cermic": around(3)}[t.Method]
	})
	some := scripted(func(t Trial) []float64 {
		if t.Task == "vmas/balance" {
			return nil
		}
		return all(t)
	})
	one := longer{func(t Trial) []float64 {
		if t.Task != "vmas/navigation" {
			return nil
		}
		return map[string][]float64{"mappo": {1}, "mappo-cermic": {3}}[t.Method]
	}}
	for _, c := range []struct {
		sources []Source
		budget  string
		state   State
		others  int
	}{
		{[]Source{one, all}, "short", Supported, 1}, {[]Source{one, some}, "short", Undecided, 1}, {[]Source{one}, "paper", NotTested, 0},
		{[]Source{longer{all}, all}, "paper", Supported, 1}, {[]Source{some, longer{some}}, "short", Undecided, 1}, {[]Source{one, scripted(func(Trial) []float64 { return nil })}, "paper", NotTested, 0},
	} {
		v, err := claim.Decide(c.sources...)
		if err != nil || v.Budget != c.budget || v.State != c.state || len(v.Others) != c.others {
			t.Errorf("%v: budget %s, %s, %d others; want %+v", err, v.Budget, v.State, len(v.Others), c)
		}
		if lines := strings.Join(v.Lines(), "\n"); c.others > 0 != strings.Contains(lines, "Beside that, budget ") {
			t.Error(lines)
		}
	}
}

// What is not tested yet counts among the tests that p is corrected for, so that p does not change as other tasks are
// run.
func TestTheProbabilityDoesNotChangeWithOtherTasks(t *testing.T) {
	claim, _ := FindClaim("lifts-mappo")
	on := func(tasks ...string) float64 {
		v, err := claim.Decide(scripted(func(t Trial) []float64 {
			if !slices.Contains(tasks, t.Task) {
				return nil
			}
			return map[string][]float64{"mappo": {1, 2, 3}, "mappo-cermic": {3, 4, 5.5}}[t.Method]
		}))
		if err != nil || len(v.Findings) != len(tasks) {
			t.Fatalf("%v: %d findings", err, len(v.Findings))
		}
		return v.Findings[0].P
	}
	if one, two := on("vmas/navigation"), on("vmas/navigation", "vmas/balance"); one != two || one < 15*0.01 {
		t.Errorf("p = %g of one task, %g beside another", one, two)
	}
}

func TestEveryClaimHasWhatDecidesIt(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Claims {
		ways := 0
		for _, has := range []bool{c.tests != nil, c.proof != nil, c.Why != ""} {
			if has {
				ways++
			}
		}
		if ways != 1 || seen[c.ID] || c.Label == "" || c.Where() == "" || c.Says == "" || (c.tests != nil) != (c.rule != "") {
			t.Errorf("%s is decided in %d ways, or incomplete, or twice in the list", c.ID, ways)
		}
		seen[c.ID] = true
		if c.tests != nil && len(c.tests) == 0 {
			t.Errorf("%s compares nothing", c.ID)
		}
	}
	if len(Claims) < 20 {
		t.Errorf("%d claims", len(Claims))
	}
}

func TestAFindingSaysEstimateIntervalKindSeedsAndFrames(t *testing.T) {
	claim, _ := FindClaim("lifts-mappo")
	v, err := claim.Decide(scripted(func(t Trial) []float64 {
		return map[string][]float64{"mappo": around(1), "mappo-cermic": around(3)}[t.Method]
	}))
	if err != nil || len(v.Findings) != len(Tasks) || math.IsNaN(v.Findings[0].P) {
		t.Fatalf("%v: %d findings", err, len(v.Findings))
	}
	const want = "Disperse: MAPPO-CERMIC − MAPPO = 2 [95 % t interval 1.77 to 2.23], p < 0.001 (Holm over 15 comparisons), significant; seeds 3 and 3 × 100 frames"
	if got := v.Findings[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

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
	return must.Get(must.Get(FindClaim(id))(t).Decide(sources...))(t)
}

// A difference on one task has one p, from its method's family of 15 tasks. The claim, the table and two of its
// columns all show it. Another task's p lies between the two columns' p. Holm's correction of the two alone would
// therefore give other values.
func TestADifferenceHasOnePWhereverItStands(t *testing.T) {
	src := onTasks(map[string][2]float64{"smac/protoss_5_vs_5": {0, 0.9}, "vmas/balance": {0, 0.6}, "smac/zerg_5_vs_5": {0, 0.4}})
	want := map[string]string{}
	for _, f := range decided(t, "lifts-mappo", src).Findings {
		want[f.On] = fmt.Sprintf("%.2g (Holm over 15 comparisons)", f.P)
		if !strings.Contains(f.String(), "(Holm over 15 comparisons)") {
			t.Errorf("a finding does not print its family: %s", f)
		}
	}
	two := must.Get(Sota.Only("pro5v5*", "zer5v5*"))(t)
	for table, rows := range map[*Benchmark]int{Sota: 3, two: 2} {
		d, err := table.Differences(src, "MAPPO")
		if err != nil || len(d.Rows) != rows {
			t.Fatalf("%q, %v; want %d rows", d.Rows, err, rows)
		}
		for _, row := range d.Rows {
			task, err := FindTask(row[0], Tasks)
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
		found, err := findings(against(suiteTasks(VMAS)[5:6], "mappo-cermic", "mappo"), src)
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
		if never := regexp.MustCompile(`\d (not tested: )?never rewarded[.,]`).MatchString(v.Reason); never != (c.methods == nil) {
			t.Errorf("%s, rewarded %v: says that runs were never rewarded: %v", c.claim, c.methods, never)
		}
	}
}

// The benefit of a mechanism of CERMIC is not tested if it was inactive at the end of training. Runs without the
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
			if v := decided(t, id, src); v.State != c.want || c.want == NotTested && !strings.Contains(v.Reason, "can be tested: 5 with an inactive mechanism.") {
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

func TestRelativeGainsLeaveOutTasksWithoutABaseline(t *testing.T) {
	upper, lower := suiteTasks(MeltingPot)[:2], suiteTasks(VMAS)[:1]
	gain := func(scores ...[]float64) float64 {
		return gains("", upper, lower).measure(scores).estimate.Value
	}
	method, base, nothing := []float64{3, 5}, []float64{-2, -2}, []float64{0, 0}
	want := (4.+2)/2 - 1 // of the upper task that has a baseline, less that of the lower one
	for _, scores := range [][][]float64{{method, base, method, nothing, {4}, {2}}, {method, nothing, method, base, {4}, {2}}} {
		if got := gain(scores...); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %g, want %g", scores, got, want)
		}
	}
	for _, scores := range [][][]float64{{method, nothing, method, nothing, {4}, {2}}, {method, base, method, base, {4}, {0}}} {
		if got := gain(scores...); !math.IsNaN(got) {
			t.Errorf("%v: %g without any baseline on one side", scores, got)
		}
	}
}

// The variance of x̄/b̄ is var(x̄)/b̄² + x̄²·var(b̄)/b̄⁴ to first order: a baseline near zero leaves the gain open.
func TestRelativeGainsAreAsUncertainAsTheirBaseline(t *testing.T) {
	upper, lower := suiteTasks(MeltingPot)[:1], suiteTasks(VMAS)[:1]
	x, b := []float64{10, 12, 14}, []float64{-1, -2, -6}
	estimate := gains("", upper, lower).measure([][]float64{x, b, {4, 4.0001}, {2, 2}}).estimate
	if want := (12.+3)/3 - 1; math.Abs(estimate.Value-want) > 1e-4 {
		t.Errorf("the difference of gains is %g, want %g", estimate.Value, want)
	}
	// Variances 4/3 of x̄ and 7/3 of b̄ = −3; Welch's degrees of freedom of the two.
	vx, vb := 4./3/9, 144*7./3/81
	half := distuv.StudentsT{Sigma: 1, Nu: (vx + vb) * (vx + vb) / (vx*vx/2 + vb*vb/2)}.Quantile(0.975) * math.Sqrt(vx+vb)
	if got := (estimate.High - estimate.Low) / 2; math.Abs(got-half) > 1e-3*half {
		t.Errorf("half the interval is %g, want %g", got, half)
	}
}
