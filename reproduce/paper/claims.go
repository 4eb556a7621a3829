// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/conf"
	"cermic/viz"
)

// Claim is a sentence of the paper about results, and how records decide it.
type Claim struct {
	ID    string // "lifts-mappo"
	Label string // where the paper says so: a LaTeX label
	Says  string // in our words
	Shown string // notebook that shows the records
	Why   string // why no record can decide it; else empty

	rule  rule
	tests func() []comparison
	proof func() (State, string) // of what mathematics decides, not records
}

// State is what records say of a claim.
type State string

// The states. Undecided is what has been tested without an answer; NotTested, what no test could be made of: no runs, or no two seeds of each method.
const (
	Supported    State = "supported"
	Contradicted State = "contradicted"
	Undecided    State = "undecided"
	NotTested    State = "not tested"
)

// open tells whether records leave a claim open.
func (s State) open() bool { return s == Undecided || s == NotTested }

// rule says how comparisons make a verdict. What counts is significance at 5 % after Holm's correction over the claim's comparisons.
type rule string

const (
	every  rule = "on every one"    // all significant support it; one significantly against it contradicts it
	most   rule = "on most"         // more than half support it, or are against it
	some   rule = "on at least one" // one supports it; all against it contradict it
	twelve rule = "on 12"           // twelve support it; so many against it that twelve are out of reach contradict it
)

// comparison is one number that the claim says to be above 0 (of a ratio: above 1), from the runs of some trials.
type comparison struct {
	on     string // task, or what stands for it
	of     string // "MAPPO-CERMIC − MAPPO"
	trials []Trial
	score  func(results.Group) ([]float64, error)                    // one number a run; nil: the last evaluation
	terms  func([][]float64) (groups [][]float64, weights []float64) // of the contrast that the number is; of a ratio of variances nil
	null   float64

	choose func([][]float64) choice // of two of the trials, by the scores of all; nil: all are compared
}

// measure is the number with its interval, and its p value.
func (t comparison) measure(g [][]float64) (stats.Interval, float64) {
	if t.terms == nil {
		return stats.VarianceRatio(g[0], g[1])
	}
	return stats.Contrast(t.terms(g))
}

// Finding is a comparison that has runs.
type Finding struct {
	On, Of   string
	Estimate stats.Interval // 95 %
	Null     float64        // what the estimate is if nothing differs: 0, or 1 of a ratio
	P        float64        // two-sided, adjusted by Holm over all comparisons that the claim asks for; NaN: too few runs
	Seeds    []int          // of each group of runs
	Beside   string         // the same from a task's other score, which decides nothing; empty where it has one
	Frames   int            // of a run
	Needed   int            // runs of each group for 80 % power, see stats.SeedsNeeded; 0: not known, or the finding is significant
}

// Significant reports whether the estimate differs from Null at 5 %.
func (f Finding) Significant() bool { return f.P < 1-stats.Level }

// Verdict is what records say of a claim.
type Verdict struct {
	Claim
	Evidence            // that decides, or tells most
	Others   []Evidence // of the other sources that have runs
}

// Evidence is what the runs of one source say.
type Evidence struct {
	State    State
	Reason   string // one sentence
	Budget   string // of the runs
	Findings []Finding
}

// tellsMore tells whether e decides a claim or, if neither does, tests more of it than an earlier source's evidence.
func (e Evidence) tellsMore(earlier Evidence) bool {
	if !e.State.open() || !earlier.State.open() {
		return earlier.State.open()
	}
	return cmp.Or(cmp.Compare(tested(e.Findings), tested(earlier.Findings)), cmp.Compare(len(e.Findings), len(earlier.Findings))) > 0
}

// tested counts the findings that have a p value.
func tested(found []Finding) (n int) {
	for _, f := range found {
		if !math.IsNaN(f.P) {
			n++
		}
	}
	return n
}

// FindClaim returns the claim with an ID. The error names near ones.
func FindClaim(id string) (Claim, error) {
	var known []string
	for _, c := range Claims {
		if c.ID == id {
			return c, nil
		}
		known = append(known, c.ID)
	}
	return Claim{}, fmt.Errorf("unknown claim %q%s", id, conf.Near(id, known))
}

// Decide derives the verdict from the runs of the first of the sources that support or contradict the claim; sources stand for budgets, the one that the claim is
// about first. If none does, those count that make most tests: a single long run does not outweigh seeds of every task.
func (c Claim) Decide(sources ...Source) (Verdict, error) {
	v := Verdict{Claim: c, Evidence: Evidence{State: NotTested}}
	switch {
	case c.proof != nil:
		v.State, v.Reason = c.proof()
		return v, nil
	case c.tests == nil:
		v.Reason = c.Why
		return v, nil
	}
	tests := c.tests()
	_, v.Reason = c.rule.decide(nil, len(tests))
	for _, src := range sources {
		found, err := findings(tests, src)
		if err != nil {
			return v, err
		}
		if len(found) == 0 {
			continue
		}
		e := Evidence{Budget: src.Budget(), Findings: found}
		e.State, e.Reason = c.rule.decide(found, len(tests))
		switch {
		case len(v.Findings) == 0:
			v.Evidence = e
		case e.tellsMore(v.Evidence):
			v.Evidence, v.Others = e, append(v.Others, v.Evidence)
		default:
			v.Others = append(v.Others, e)
		}
	}
	return v, nil
}

// beside is what the first steps say, or why they say nothing.
func (t comparison) beside(first [][]float64, noted bool) string {
	if !noted {
		return "not noted by all runs"
	}
	other, _ := t.measure(first)
	if math.IsNaN(other.Value) {
		return "nothing to compare"
	}
	return digits(other.Value)
}

// findings measures the comparisons whose trials all have runs, and enough of them.
func findings(tests []comparison, src Source) (out []Finding, err error) {
	var ps []float64
	needed := map[int]func(alpha float64) int{} // by the finding's index
	for _, t := range tests {
		f := Finding{On: t.on, Of: t.of, Null: t.null}
		whole, noted := false, true // of tasks with two scores: the one that decides, and whether all runs note the other
		var first [][]float64
		var groups [][]float64
		for _, trial := range t.trials {
			g, err := src.Runs(trial)
			if err != nil {
				return nil, err
			}
			scores, err := t.read(g, trial)
			if err != nil {
				return nil, err
			}
			if len(scores) == 0 {
				break
			}
			groups, f.Seeds, f.Frames = append(groups, scores), append(f.Seeds, len(scores)), g.Runs[0].Frames
			steps, early := firstScores(trial, g)
			if steps == 0 { // the task has one score, which stands for both
				early = scores
			}
			whole, noted, first = whole || steps > 0 && t.score == nil, noted && len(early) == len(scores), append(first, early)
		}
		if len(groups) < len(t.trials) {
			continue
		}
		var p float64
		chosen := 1. // of so many
		if t.choose == nil {
			f.Estimate, p = t.measure(groups)
		} else {
			c := t.choose(groups)
			p, chosen = c.p(groups), float64(c.of)
			groups, first, f.Seeds = two(groups, c.pair), two(first, c.pair), two(f.Seeds, c.pair)
			f.Estimate, _ = t.measure(groups)
			f.Of += fmt.Sprintf(" (%s − %s)", mustMethod(t.trials[c.pair[0]].Method).Name, mustMethod(t.trials[c.pair[1]].Method).Name)
		}
		if math.IsNaN(f.Estimate.Value) { // the variance of one run, or relative gains of nothing
			continue
		}
		if whole {
			f.On += ", whole episodes"
			f.Beside = fmt.Sprintf("first %d steps: %s", twoScores, t.beside(first, noted))
		}
		if t.terms != nil {
			needed[len(out)] = func(alpha float64) int {
				of, weights := t.terms(groups)
				return stats.SeedsNeeded(of, weights, alpha/chosen)
			}
		}
		out, ps = append(out, f), append(ps, p)
	}
	family := slices.Repeat([]float64{1}, len(tests)-len(ps)) // what cannot be tested yet counts as well, so that p does not change with what else has been run
	for _, p := range ps {
		if math.IsNaN(p) {
			family = append(family, 1)
		}
	}
	for i, p := range stats.Holm(append(ps, family...))[:len(ps)] {
		out[i].P = p
		if ask := needed[i]; ask != nil && !out[i].Significant() {
			out[i].Needed = ask((1 - stats.Level) / float64(len(tests))) // Holm's first step
		}
	}
	return out, nil
}

// read is one number for each run of a trial.
func (t comparison) read(g results.Group, trial Trial) ([]float64, error) {
	if t.score != nil {
		return t.score(g)
	}
	scores, err := g.Scores()
	for i := range scores {
		scores[i] /= float64(max(1, trial.Agents))
	}
	return scores, err
}

// decide counts the significant findings.
func (r rule) decide(found []Finding, asked int) (State, string) {
	pro, contra := 0, 0
	for _, f := range found {
		switch {
		case f.Significant() && f.Estimate.Value > f.Null:
			pro++
		case f.Significant() && f.Estimate.Value < f.Null:
			contra++
		}
	}
	count := fmt.Sprintf("%d of %d comparisons have runs, %d of them enough for a test: %d significantly support the claim, %d significantly contradict it.",
		len(found), asked, tested(found), pro, contra)
	switch {
	case len(found) == 0:
		if asked == 1 {
			return NotTested, "Not every method of its comparison has runs."
		}
		return NotTested, fmt.Sprintf("None of its %d comparisons has runs of all its methods.", asked)
	case tested(found) == 0:
		return NotTested, fmt.Sprintf("%d of %d comparisons have runs, none of them enough for a test.", len(found), asked)
	case r == every && contra > 0, r == most && 2*contra > asked, r == some && contra == asked, r == twelve && contra > asked-12:
		return Contradicted, count
	case r == every && pro == asked, r == most && 2*pro > asked, r == some && pro > 0, r == twelve && pro >= 12:
		return Supported, count
	}
	return Undecided, count + " That does not decide it."
}

// Lines are everything that a reader must know of a verdict, without markup: what decides, budget and findings.
func (v Verdict) Lines() []string {
	out := []string{v.Reason}
	if len(v.Findings) > 0 {
		out = append(out, "Budget "+v.Budget+". "+v.Demand())
	}
	if slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Needed > 0 }) {
		out = append(out, SeedsThatTell)
	}
	for _, f := range v.Findings {
		out = append(out, f.String())
	}
	for _, e := range v.Others {
		out = append(out, e.Beside())
		for _, f := range e.Findings {
			out = append(out, f.String())
		}
	}
	return out
}

// Beside introduces evidence that is not what decides.
func (e Evidence) Beside() string { return "Beside that, budget " + e.Budget + ": " + e.Reason }

// SeedsThatTell says what is meant by the seeds that a finding needs.
const SeedsThatTell = "Seeds for 80 % power: with so many of each method, four experiments in five would find the measured difference significant (at the first step of Holm's correction) if it and the standard deviations are as measured. Measured on few seeds, that is a rough guide."

// Box is the verdict as it stands at the top of a notebook.
func (v Verdict) Box() viz.Box {
	return viz.Box{Head: string(v.State), Text: v.Says + " (the paper, " + v.Where() + ")", Lines: v.Lines(), Mark: marks[v.State]}
}

// marks tell states apart by more than a word.
var marks = map[State]viz.BoxMark{Supported: viz.Good, Contradicted: viz.Bad, Undecided: viz.Open, NotTested: viz.Open}

// Demand says what the records must show for the claim to be supported.
func (c Claim) Demand() string {
	if c.tests == nil {
		return ""
	}
	tests := c.tests()
	demand := fmt.Sprintf("Supported if significant %s of %d comparisons, at 5 %% by Welch's t test (of variances: Brown and Forsythe's) with Holm's correction.", c.rule, len(tests))
	if tests[0].choose != nil {
		demand += " The two are chosen by their means, and the test is of more than their difference: the method with CERMIC must be above each of the others (p is the largest of these times two), " +
			"or one of those above both with CERMIC (the largest times eight)."
	}
	return demand
}

// Where is the place of a claim as a reader of the paper finds it.
func (c Claim) Where() string { return places[c.Label] }

// places are the labels of the claims as printed.
var places = map[string]string{
	"abstract": "abstract", "theo:1": "Theorem 1", "sec:exp": "Section 5", "sec:qa": "Section 5.3",
	"table:sota": "Table 1", "tab155": "Table 2", "tab222": "Table 3", "tab:generalization_across_rewards": "Table 4", "fig2": "Figure 2", "fig3": "Figure 3",
	"fig:app_additional_comparisons_placeholder": "Appendix F, learning curves", "fig:app_noise_experiments_placeholder": "Appendix F, noise",
	"fig:app_rew": "Appendix F, intrinsic reward",
}

// String is the finding in one line: estimate, interval and its kind, p, seeds × frames.
func (f Finding) String() string {
	interval, test := "no interval", "too few seeds for a test"
	if !math.IsNaN(f.Estimate.Low) {
		interval = fmt.Sprintf("95 %% t interval %s to %s", digits(f.Estimate.Low), digits(f.Estimate.High))
	}
	if !math.IsNaN(f.P) {
		test = fmt.Sprintf("p = %.2g", f.P)
		if f.P < 0.001 {
			test = "p < 0.001"
		}
		if f.Significant() {
			test += ", significant"
		} else {
			test += ", not significant"
		}
	}
	seeds := strings.Trim(fmt.Sprint(f.Seeds), "[]")
	line := fmt.Sprintf("%s: %s = %s [%s], %s; seeds %s × %s frames", f.On, f.Of, digits(f.Estimate.Value), interval, test,
		strings.ReplaceAll(seeds, " ", " and "), viz.Short(float64(f.Frames)))
	switch {
	case f.Needed > stats.MostSeeds:
		line += fmt.Sprintf("; 80 %% power needs more than %d seeds each", stats.MostSeeds)
	case f.Needed > 0:
		line += fmt.Sprintf("; 80 %% power needs about %d seeds each", f.Needed)
	}
	if f.Beside != "" {
		line += "; " + f.Beside
	}
	return line
}

// digits writes three significant ones with a real minus sign.
func digits(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%.3g", x), "-", "−") }
