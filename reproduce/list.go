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

// runList names what can be trained.
func runList(_ context.Context, out io.Writer, args []string) error {
	if _, err := parse("list", out, args, 0, func(*flag.FlagSet) {}); err != nil {
		return err
	}
	fmt.Fprintln(out, "Tasks (* = trained on a sparse reward)")
	for _, t := range plan.Tasks() {
		star := " "
		if t.Star {
			star = "*"
		}
		fmt.Fprintf(out, "  %-52s%s %s\n", t.ID, star, t.About)
	}
	fmt.Fprintln(out, "\nMethods")
	for _, m := range plan.Methods() {
		fmt.Fprintf(out, "  %-54s%s\n", m.ID, m.About)
	}
	fmt.Fprintln(out, "\nBudgets")
	for _, b := range plan.Budgets {
		fmt.Fprintf(out, "  %-54s%s\n", b.Budget.Name, b.About)
	}
	fmt.Fprintln(out, "\nParts, for -set learner=…, -set policy=…, -set explore=…")
	for _, part := range []struct {
		name  string
		kinds []string
	}{
		{"learner", conf.Kinds[learn.Config]()}, {"policy", conf.Kinds[policy.Config]()}, {"explore", conf.Kinds[explore.Config]()},
	} {
		fmt.Fprintf(out, "  %-54s%s\n", part.name, strings.Join(part.kinds, ", "))
	}
	return nil
}
