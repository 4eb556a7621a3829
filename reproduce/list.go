// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

// runList names what can be trained or, asked for a method, what can be set.
func runList(_ context.Context, out io.Writer, args []string) error {
	q := plan.Request{}
	var set repeated
	if _, err := parse("list", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&q.Method, "method", "", "list the settings of this `method` instead")
		f.StringVar(&q.Task, "task", "", "list the settings of this `task`; with -method, of the method on it (default "+defaultTask+")")
		f.StringVar(&q.Budget, "budget", plan.DefaultBudget, "`budget` of these settings: "+budgetNames())
		f.Var(&set, "set", "change a setting, `key=value`: a star marks what differs from the default; may be repeated")
	}); err != nil {
		return err
	}
	q.Set = set
	switch {
	case q.Method != "":
		q.Task = cmp.Or(q.Task, defaultTask)
		return listSettings(out, q, "")
	case q.Task != "":
		q.Method = "mappo"
		return listSettings(out, q, "task")
	}
	fmt.Fprintln(out, "Tasks (* = trained on a sparse reward)")
	for _, t := range plan.Tasks() {
		star := " "
		if t.Star {
			star = "*"
		}
		entry(out, t.ID, star+" "+t.About)
	}
	fmt.Fprintln(out, "\nMethods (what can be set: list -method NAME, list -task NAME)")
	for _, m := range plan.Methods() {
		entry(out, m.ID, "  "+m.About)
	}
	fmt.Fprintln(out, "\nBudgets")
	for _, b := range plan.Presets {
		entry(out, b.Budget.Name, "  "+b.About)
	}
	fmt.Fprintln(out, "\nParts, as in -set explore=none")
	entry(out, "learner", "  "+strings.Join(conf.Kinds[learn.Config](), ", "))
	entry(out, "policy", "  "+strings.Join(conf.Kinds[policy.Config](), ", "))
	entry(out, "explore", "  "+strings.Join(conf.Kinds[explore.Config](), ", "))
	return nil
}

// listSettings prints every key that -set takes, with its value, what it is and its bounds. Of a task alone it prints the task's. A star marks
// what -set moved away from its default.
func listSettings(out io.Writer, q plan.Request, part string) error {
	settings, err := plan.SettingsOf(q)
	if err != nil {
		return usageError{err}
	}
	for _, s := range settings {
		if !strings.HasPrefix(s.Key, part) {
			continue
		}
		about := s.Sentence()
		if s.Changed {
			fmt.Fprintf(out, "* %-44s  %s (default: %s)\n", s.Key+"="+s.Value, about, s.Default)
			continue
		}
		fmt.Fprintf(out, "  %-44s  %s\n", s.Key+"="+s.Value, about)
	}
	return nil
}

// entry prints a name and what it is.
func entry(out io.Writer, name, about string) { fmt.Fprintf(out, "  %-52s%s\n", name, about) }
