// SPDX-License-Identifier: Apache-2.0

package main

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"cermic/cermiclib/results"
	"cermic/reproduce/figures"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
	"cermic/viz"
)

// claimsFile and resultsFile are generated from the committed records, as seen from the repository's root.
const (
	claimsFile  = "reproduce/CLAIMS.md"
	resultsFile = "reproduce/RESULTS.md"
)

// claimBudgets in order of precedence.
var claimBudgets = []string{"paper", "short"}

func claimsCommand() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:     "claims [CLAIM]",
		Short:   "Compare the paper's claims with the records: list verdicts, or explain one",
		Example: "  claims\n  claims lifts-mappo",
		Args:    arguments(0, 1, ""),
		RunE: onStore(readStore, func(cmd *cobra.Command, st *results.Store, ids []string) error {
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
			verdicts, err := decide(st, claims)
			if err != nil {
				return err
			}
			printVerdicts(cmd.OutOrStdout(), verdicts, len(ids) > 0)
			return nil
		}),
	}
	storeFlag(cmd.Flags())
	cmd.Flags().BoolVar(&write, "write", false, "write "+claimsFile+" from the committed records")
	return cmd
}

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

// templateFiles are the texts of the generated pages.
//
//go:embed templates/*.md
var templateFiles embed.FS

func renderPage(name string, data any) (string, error) {
	t, err := template.ParseFS(templateFiles, "templates/"+name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, data)
	return b.String(), err
}

func claimsPage(st *results.Store) (string, error) {
	verdicts, err := decide(st, paper.Claims)
	if err != nil {
		return "", err
	}
	ours, err := figures.DefaultRobustness().Verdict(st)
	if err != nil {
		return "", err
	}
	return renderPage("claims.md", struct {
		Theorem  string
		Verdicts []paper.Verdict
		Ours     viz.Box
	}{paper.TheoremBonus, verdicts, ours})
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
