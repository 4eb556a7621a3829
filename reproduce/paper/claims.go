// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

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
	tests []comparison
	proof func() (State, string) // of what mathematics decides, not records
}

// State is what records say of a claim.
type State string

// The states. Undecided means tested without an answer. NotTested means no test: no runs, too few seeds of a method,
// or runs without information on it. Conditional means proved by mathematics under a condition.
const (
	Supported    State = "supported"
	Conditional  State = "holds with an unstated condition"
	Contradicted State = "contradicted"
	Undecided    State = "undecided"
	NotTested    State = "not tested"
)

// rule states how comparisons make a verdict. Only significant effects that matter count; see Finding.
type rule string

const (
	every  rule = "on every one"
	most   rule = "on most"
	some   rule = "on at least one"
	twelve rule = "on 12"
)

// decisive are the least numbers of effects, of so many comparisons, that support a claim and that contradict it.
func (r rule) decisive(asked int) (pro, contra int) {
	switch r {
	case most:
		return asked/2 + 1, asked/2 + 1
	case some:
		return 1, asked
	case twelve:
		return 12, asked - 11 // then twelve are out of reach
	}
	return asked, 1
}

// Verdict is what records say of a claim.
type Verdict struct {
	Claim
	Evidence            // that decides, or tells most
	Others   []Evidence // of the other sources that have runs
	Theorem  []Evidence // the same for runs with Theorem 1's bonus, ours, likewise in order; empty if there are none
}

// Evidence is what the runs of one source say.
type Evidence struct {
	State    State
	Reason   string // one sentence
	Budget   string // of the runs
	Findings []Finding
}

// rank orders evidence: what decides a claim, then what tests more of it.
func (e Evidence) rank() []int {
	if e.State == Undecided || e.State == NotTested {
		return []int{0, tested(e.Findings), len(e.Findings)}
	}
	return []int{1}
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
	return conf.Find("claim", id, Claims, func(c Claim) string { return c.ID })
}

// Decide derives the verdict from the runs of the first source that supports or contradicts the claim. Sources stand
// for budgets, the budget of the claim first. If none decides, the source with the most tests counts: a single long
// run does not outweigh seeds of every task.
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
	_, v.Reason = c.rule.decide(nil, len(c.tests))
	all, err := c.evidence(c.tests, sources)
	if len(all) > 0 {
		v.Evidence, v.Others = all[0], all[1:]
	}
	if err == nil {
		v.Theorem, err = c.evidence(theorems(c.tests), sources)
	}
	return v, err
}

// evidence is the evidence of each source that has runs, the highest rank first; among equals in order of the sources.
func (c Claim) evidence(tests []comparison, sources []Source) (all []Evidence, err error) {
	for _, src := range sources {
		found, err := findings(tests, src)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		e := Evidence{Budget: src.Budget(), Findings: found}
		e.State, e.Reason = c.rule.decide(found, len(tests))
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b Evidence) int { return slices.Compare(b.rank(), a.rank()) })
	return all, nil
}

// theorems are the comparisons of CERMIC's methods, with Theorem 1's bonus instead of their own.
func theorems(tests []comparison) (out []comparison) {
	for _, t := range tests {
		if !slices.ContainsFunc(t.trials, Trial.cermic) {
			continue
		}
		t.trials, t.of = slices.Clone(t.trials), strings.ReplaceAll(t.of, "-CERMIC", "-CERMIC"+strings.ToUpper(theoremSuffix))
		for i := range t.trials {
			if t.trials[i].cermic() {
				t.trials[i].Method += theoremSuffix
			}
		}
		out = append(out, t)
	}
	return out
}

// decide counts the significant findings.
func (r rule) decide(found []Finding, asked int) (State, string) {
	pro, contra, slight := 0, 0, 0
	reasons := map[string]int{}
	for _, f := range found {
		switch {
		case f.Untested != "":
			reasons[f.Untested]++
		case f.matters() && f.Estimate.Value > f.Null:
			pro++
		case f.matters() && f.Estimate.Value < f.Null:
			contra++
		case f.significant():
			slight++
		}
	}
	why, few := "", len(found)
	var without []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		n := reasons[reason]
		why += fmt.Sprintf(" %d not tested: %s.", n, reason)
		without, few = append(without, fmt.Sprint(n, " ", reason)), few-n
	}
	count := fmt.Sprintf("%d of %d comparisons have runs, %d can be tested: %d significantly support the claim, "+
		"%d significantly contradict it.", len(found), asked, tested(found), pro, contra)
	if slight > 0 {
		count += fmt.Sprintf(" %d significant, but not beyond differences that do not matter.", slight)
	}
	count += why
	needed, against := r.decisive(asked)
	switch {
	case len(found) == 0:
		if asked == 1 {
			return NotTested, "Not every method of its comparison has runs."
		}
		return NotTested, fmt.Sprintf("None of its %d comparisons has runs of all its methods.", asked)
	case tested(found) == 0:
		if none := asked - len(found); none > 0 {
			without = slices.Insert(without, 0, fmt.Sprint(none, " without runs of all methods"))
		}
		if few > 0 {
			without = append(without, fmt.Sprint(few, " with too few seeds"))
		}
		return NotTested, fmt.Sprintf("None of %s can be tested: %s.",
			viz.Count(asked, "comparison"), strings.Join(without, ", "))
	case contra >= against:
		return Contradicted, count
	case pro >= needed:
		return Supported, count
	}
	return Undecided, count + " That does not decide it."
}

// Lines are the verdict without markup: the reason, the rule with its budget, and the findings.
func (v Verdict) Lines() []string {
	out := []string{v.Reason}
	if len(v.Theorem) > 0 {
		out = append(out, fmt.Sprintf("%s, ours: %s, budget %s.", TheoremBonus, v.Theorem[0].State, v.Theorem[0].Budget))
	}
	if len(v.Findings) > 0 {
		out = append(out, "Budget "+v.Budget+". "+v.Demand())
	}
	for _, f := range v.Findings {
		out = append(out, f.String())
	}
	for _, e := range v.Beside() {
		out = append(out, e.Reason)
		for _, f := range e.Findings {
			out = append(out, f.String())
		}
	}
	return out
}

// Beside is the evidence that does not decide the claim, each introduced by its reason. It is the evidence of other
// budgets, and of runs with Theorem 1's bonus, whose verdict is a second one.
func (v Verdict) Beside() (all []Evidence) {
	for _, e := range v.Others {
		e.Reason = "Beside that, budget " + e.Budget + ": " + e.Reason
		all = append(all, e)
	}
	for _, e := range v.Theorem {
		e.Reason = fmt.Sprintf("%s (ours, not the paper's method), budget %s: %s. %s",
			TheoremBonus, e.Budget, e.State, e.Reason)
		all = append(all, e)
	}
	return all
}

// Box is the verdict as it stands at the top of a notebook.
func (v Verdict) Box() viz.Box {
	return viz.Box{Head: string(v.State), Text: v.Says + " (the paper, " + v.Where() + ")",
		Lines: v.Lines(), Mark: marks[v.State]}
}

// marks distinguish states by more than a word.
var marks = map[State]viz.BoxMark{Supported: viz.Good, Conditional: viz.Open, Contradicted: viz.Bad,
	Undecided: viz.Open, NotTested: viz.Open}

// Demand says what the records must show for the claim to be supported.
func (c Claim) Demand() string {
	if c.tests == nil {
		return ""
	}
	demand := fmt.Sprintf("Supported if significant %s of %s, at 5 %% by Welch's t test "+
		"(of variances: Brown and Forsythe's) with Holm's correction.", c.rule, viz.Count(len(c.tests), "comparison"))
	if c.tests[0].scored() {
		demand += fmt.Sprintf(" An effect counts if its interval lies beyond %.0f %% of the "+
			"distance between random and scripted play.", 100*trivialShare)
	}
	if c.rule == twelve {
		demand += " The two are chosen by their means, and the test is of more than their difference: " +
			"the method with CERMIC must be above each of the others (p is the largest of these times two), " +
			"or one of those above both with CERMIC (the largest times eight)."
	}
	return demand
}

// Where is the place of a claim as a reader of the paper finds it.
func (c Claim) Where() string { return places[c.Label] }

// places are the labels of the claims as printed.
var places = map[string]string{
	"abstract": "abstract", "theo:1": "Theorem 1", "sec:exp": "Section 5", "sec:qa": "Section 5.3",
	"table:sota": "Table 1", "tab155": "Table 2", "tab222": "Table 3", "tab:generalization_across_rewards": "Table 4",
	"fig2": "Figure 2", "fig3": "Figure 3", "fig:app_additional_comparisons_placeholder": "Appendix F, learning curves",
	"fig:app_noise_experiments_placeholder": "Appendix F, noise", "fig:app_rew": "Appendix F, intrinsic reward",
}
