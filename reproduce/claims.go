// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

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

// claimBudgets in order of precedence.
var claimBudgets = []string{"paper", "short"}

func claimsCommand() *cobra.Command {
	var store string
	var write bool
	cmd := &cobra.Command{
		Use:     "claims [CLAIM]",
		Short:   "Compare the paper's claims with the records: list verdicts, or explain one",
		Example: "  claims\n  claims lifts-mappo",
		Args:    arguments(0, 1, ""),
		RunE: func(cmd *cobra.Command, ids []string) error {
			if write {
				if len(ids) > 0 || cmd.Flags().Changed("store") {
					return usagef("claims -write writes %s from all committed records: leave out the other arguments", claimsFile)
				}
				return writeGenerated(claimsFile, claimsPage)
			}
			claims := paper.Claims
			if len(ids) > 0 {
				one, err := paper.FindClaim(ids[0])
				if err != nil {
					return usageError{err}
				}
				claims = []paper.Claim{one}
			}
			st, err := readStore(store)
			if err != nil {
				return err
			}
			verdicts, err := decide(st, claims)
			if err != nil {
				return err
			}
			printVerdicts(cmd.OutOrStdout(), verdicts, len(ids) > 0)
			return nil
		},
	}
	storeFlag(cmd.Flags(), &store)
	cmd.Flags().BoolVar(&write, "write", false, "write "+claimsFile+" from the committed records")
	return cmd
}

// printVerdicts prints a line for each verdict, and its reasons if explain is set.
func printVerdicts(out io.Writer, verdicts []paper.Verdict, explain bool) {
	for _, v := range verdicts {
		fmt.Fprintf(out, "%-13s %s: %s\n", v.State, v.ID, v.Says)
		if len(v.Theorem) > 0 {
			fmt.Fprintf(out, "%13s %s: %s\n", "", paper.TheoremBonus, v.Theorem[0].State)
		}
		if explain {
			for _, line := range v.Lines() {
				fmt.Fprintln(out, "  "+line)
			}
		}
	}
	if !explain {
		fmt.Fprintln(out, "\nWhy: go run ./reproduce claims CLAIM")
	}
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

// verdictCell is the verdict of a claim and, if there are runs, the one about Theorem 1's bonus.
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
	st, done, err := storeOf(records.FS)
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
