// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
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
				return nil // only the noisy variant is asked for
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
		claim, err := FindClaim(c.claim)
		if err != nil {
			t.Fatal(err)
		}
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

// One run at another budget does not take the place of those that decide a claim, or tell more of it.
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
		if c.tests != nil && len(c.tests()) == 0 {
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
