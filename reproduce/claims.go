// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
)

// claimsFile and resultsFile are generated from the committed records, as seen from the repository's root.
const (
	claimsFile  = "reproduce/CLAIMS.md"
	resultsFile = "reproduce/RESULTS.md"
)

// claimBudgets are asked in this order: the paper's own first.
var claimBudgets = []string{"paper", "short"}

// runClaims prints what the records say of each claim of the paper.
func runClaims(_ context.Context, out io.Writer, args []string) error {
	var store string
	var write bool
	ids, err := parse("claims", out, args, 1, func(f *flag.FlagSet) {
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.BoolVar(&write, "write", false, "write "+claimsFile+" from the committed records instead")
	})
	if err != nil {
		return err
	}
	if write {
		if len(ids) > 0 {
			return usagef("claims -write writes all of %s: leave out %s", claimsFile, ids[0])
		}
		return writeGenerated(claimsFile, claimsPage)
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	claims := paper.Claims
	if len(ids) > 0 {
		one, err := paper.FindClaim(ids[0])
		if err != nil {
			return usageError{err}
		}
		claims = []paper.Claim{one}
	}
	verdicts, err := decide(st, claims)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		fmt.Fprintf(out, "%-13s %s: %s\n", v.State, v.ID, v.Says)
		if len(v.Theorem) > 0 {
			fmt.Fprintf(out, "%13s %s: %s\n", "", paper.TheoremBonus, v.Theorem[0].State)
		}
		if len(ids) > 0 {
			for _, line := range v.Lines() {
				fmt.Fprintln(out, "  "+line)
			}
		}
	}
	if len(ids) == 0 {
		fmt.Fprintln(out, "\nWhy: go run ./reproduce claims ID")
	}
	return nil
}

// decide derives the verdicts from the runs of a store.
func decide(st *results.Store, claims []paper.Claim) (out []paper.Verdict, err error) {
	var sources []paper.Source
	for _, budget := range claimBudgets {
		sources = append(sources, plan.At(st, budget))
	}
	for _, c := range claims {
		v, err := c.Decide(sources...)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// claimsPage is the text of claimsFile.
func claimsPage(st *results.Store) (string, error) {
	verdicts, err := decide(st, paper.Claims)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# The paper's claims and what the records say of them\n\n" +
		"Generated from the committed records by `go run ./reproduce claims -write`; a test keeps it current. `go run ./reproduce claims` includes your own runs.\n\n" +
		"The verdicts are about the paper's methods, with the bonus that it prints. Where the same method with Theorem 1's bonus, ours, has runs, a second verdict under that name stands beside the first.\n\n" +
		"A claim is **supported** or **contradicted** where its comparisons differ significantly (5 %, Welch's t test, of variances Brown and Forsythe's, Holm's correction over all\n" +
		"comparisons that the claim asks for, trained or not) as its rule demands, **undecided** where tests of some of them give no such answer, and **not tested** where none could be made, which takes two seeds of each\n" +
		"method (of variances three, and four of one). A significant effect counts only if its interval lies beyond 1 % of the distance between random and scripted play on the task. Not tested are also comparisons of\n" +
		"runs on VMAS's sparse reward that never met it, and those about the memory, L_exploit or γ where steps with f_{n−1} are fewer than 5 % or h's corrections spread less than .001 at the end of training.\n" +
		"Intervals are not corrected for their number, nor is any p for earlier looks: on Sampling\\*, WheelGathering\\*, Flocking\\* and in the sparse battles some seeds\n" +
		"were added after others had been seen. Runs at the paper's budget count before those at `short` if they decide it; if neither does, those of which more comparisons can be tested stand first.\n" +
		paper.SeedsThatTell + "\n\n" +
		"| claim | the paper, in our words | where | verdict | shown in |\n|---|---|---|---|---|\n")
	for _, v := range verdicts {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s, `%s` | %s | [%s](../notebooks/%s.ipynb) |\n", v.ID, v.ID, v.Says, v.Where(), v.Label, verdictCell(v), v.Shown, v.Shown)
	}
	for _, v := range verdicts {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n**%s.** %s\n", v.ID, v.Says, v.State, v.Reason)
		if d := v.Demand(); d != "" {
			fmt.Fprintln(&b, d)
		}
		if len(v.Findings) > 0 {
			fmt.Fprintf(&b, "\nBudget `%s`:\n\n", v.Budget)
		}
		for _, f := range v.Findings {
			fmt.Fprintf(&b, "- %s\n", f)
		}
		for _, e := range v.Beside() {
			fmt.Fprintf(&b, "\n%s\n\n", e.Reason)
			for _, f := range e.Findings {
				fmt.Fprintf(&b, "- %s\n", f)
			}
		}
	}
	return b.String(), nil
}

// verdictCell is a verdict in the table of claims, and the second one about Theorem 1's bonus where there are runs of it.
func verdictCell(v paper.Verdict) string {
	cell := stateAt(v.Evidence)
	if len(v.Theorem) > 0 {
		cell += "; " + paper.TheoremBonus + ": " + stateAt(v.Theorem[0])
	}
	return cell
}

// stateAt is the state of evidence with the budget of its runs.
func stateAt(e paper.Evidence) string {
	if e.Budget == "" {
		return string(e.State)
	}
	return fmt.Sprintf("%s at `%s`", e.State, e.Budget)
}

// writeGenerated writes a page from the committed records alone.
func writeGenerated(file string, page func(*results.Store) (string, error)) error {
	st, done, err := committedStore()
	if err != nil {
		return err
	}
	defer done()
	text, err := page(st)
	if err != nil {
		return err
	}
	return results.WriteFile(file, []byte(text))
}

// committedStore has the committed records and nothing else.
func committedStore() (*results.Store, func(), error) {
	dir, err := os.MkdirTemp("", "committed")
	if err != nil {
		return nil, nil, err
	}
	done := func() { os.RemoveAll(dir) }
	st, err := results.Open(dir)
	if err == nil {
		err = st.Base(records.FS)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return st, done, nil
}
