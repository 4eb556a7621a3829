// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/reproduce/plan"
)

// runList names what can be trained or, asked for a method, what can be set.
func runList(_ context.Context, out io.Writer, args []string) error {
	q := plan.Request{}
	if _, err := parse("list", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&q.Method, "method", "", "list the settings of this `method` instead")
		f.StringVar(&q.Task, "task", defaultTask, "`task` of these settings")
		f.StringVar(&q.Budget, "budget", plan.DefaultBudget, "`budget` of these settings: "+budgetNames())
	}); err != nil {
		return err
	}
	if q.Method != "" {
		return listSettings(out, q)
	}
	fmt.Fprintln(out, "Tasks (* = trained on a sparse reward)")
	for _, t := range plan.Tasks() {
		star := " "
		if t.Star {
			star = "*"
		}
		entry(out, t.ID, star+" "+t.About)
	}
	fmt.Fprintln(out, "\nMethods (settings of one: list -method NAME)")
	for _, m := range plan.Methods() {
		entry(out, m.ID, "  "+m.About)
	}
	fmt.Fprintln(out, "\nBudgets")
	for _, b := range plan.Budgets {
		entry(out, b.Budget.Name, "  "+b.About)
	}
	fmt.Fprintln(out, "\nParts, as in -set explore=none")
	entry(out, "learner", "  "+strings.Join(conf.Kinds[learn.Config](), ", "))
	entry(out, "policy", "  "+strings.Join(conf.Kinds[policy.Config](), ", "))
	entry(out, "explore", "  "+strings.Join(conf.Kinds[explore.Config](), ", "))
	return nil
}

// listSettings prints every key that -set takes, with its value.
func listSettings(out io.Writer, q plan.Request) error {
	e, err := plan.New(q)
	if err != nil {
		return usageError{err}
	}
	for _, k := range conf.Keys(e) {
		if k.Key == "seed" || k.Key == "budget.name" || k.Key == "forks" {
			continue // -seeds, -budget and -fork
		}
		about := k.Type
		if k.Kinds != nil {
			about += ": " + strings.Join(k.Kinds, ", ")
		}
		entry(out, k.Key+"="+k.Value, "  "+about)
	}
	return nil
}

// entry prints a name and what it is.
func entry(out io.Writer, name, about string) { fmt.Fprintf(out, "  %-52s%s\n", name, about) }
