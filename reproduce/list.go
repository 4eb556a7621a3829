// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cermic/cermiclib"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func listCommand() *cobra.Command {
	q := plan.Request{}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List tasks, methods and budgets, or the settings of a method or task",
		Example: "  list -method mappo-cermic -task navigation -set explore.alpha=0.5\n  list -task lock",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef("list takes no argument %q: list alone shows tasks, methods and budgets; "+
				"list -method NAME and list -task NAME show settings", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			switch {
			case q.Method != "":
				q.Task = cmp.Or(q.Task, defaultTask)
				return listSettings(out, q, "")
			case q.Task != "":
				q.Method = "mappo"
				return listSettings(out, q, "task")
			}
			if err := only(cmd, "without -method and -task", ""); err != nil {
				return err
			}
			listAll(out)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Method, "method", "", "list the settings of this `method`")
	f.StringVar(&q.Task, "task", "", "list the settings of this `task`; with -method, of the method on it")
	f.StringVar(&q.Budget, "budget", cermiclib.DefaultBudget, "`budget` of these settings: "+budgetNames())
	setFlag(f, &q.Set)
	return cmd
}

func listAll(out io.Writer) {
	entry := func(name, about string) { fmt.Fprintf(out, "  %-52s%s\n", name, about) }
	fmt.Fprintln(out, "Tasks (* = trained on a sparse reward)")
	for _, t := range plan.Tasks() {
		star := " "
		if t.Star {
			star = "*"
		}
		entry(t.ID, star+" "+t.About)
	}
	fmt.Fprintln(out, "\nMethods (settings: list -method NAME, list -task NAME)")
	for _, m := range cermiclib.Methods() {
		entry(m.ID, "  "+m.About)
	}
	fmt.Fprintln(out, "\nBudgets")
	for _, b := range cermiclib.Presets {
		entry(b.Budget.Name, "  "+b.About)
	}
	fmt.Fprintln(out, "\nParts, as in -set explore=none")
	entry("learner", "  "+strings.Join(conf.Kinds[learn.Config](), ", "))
	entry("policy", "  "+strings.Join(conf.Kinds[policy.Config](), ", "))
	entry("explore", "  "+strings.Join(conf.Kinds[explore.Config](), ", "))
}

// listSettings prints every key below part that -set takes, with value, description and bounds. A star marks changes.
func listSettings(out io.Writer, q plan.Request, part string) error {
	settings, err := plan.SettingsOf(q)
	if err != nil {
		return usageError{err}
	}
	for _, s := range settings {
		if !strings.HasPrefix(s.Key, part) {
			continue
		}
		star, about := " ", s.Sentence()
		if s.Changed {
			star, about = "*", about+" (default: "+s.Default+")"
		}
		fmt.Fprintf(out, "%s %-44s  %s\n", star, s.Key+"="+s.Value, about)
	}
	return nil
}

func statusCommand() *cobra.Command {
	var committed bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "List the stored runs with their scores and IDs, and the runs in training",
		RunE: onStore(readStore, func(cmd *cobra.Command, st *results.Store, _ []string) (err error) {
			if !committed {
				if st, err = results.Open(st.Dir()); err != nil {
					return err
				}
			}
			records, err := st.Heads(results.Query{})
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if len(records) == 0 {
				if ids, _ := st.IDs(); len(ids) > 0 { // the store has reported what is wrong with each
					return fmt.Errorf("no run in %s can be read", st.Dir())
				}
				fmt.Fprintf(out, "No runs in %s yet: go run ./reproduce train\n", st.Dir())
				return nil
			}
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "task\tmethod\tbudget\tseed\tframes\tscore\tstate\trun")
			for _, r := range plan.Labelled(records) {
				score := viz.Missing
				if len(r.Evals) > 0 {
					score = fmt.Sprintf("%.4g", r.Score())
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n",
					r.Task, r.Method, r.Budget, r.Seed, viz.Short(float64(r.Frames)), score, state(st, r), r.ID)
			}
			return w.Flush()
		}),
	}
	storeFlag(cmd.Flags())
	cmd.Flags().BoolVar(&committed, "committed", false, "also list the committed records")
	return cmd
}

func state(st *results.Store, r *results.Record) string {
	switch {
	case r.Complete:
		return "complete"
	case st.Owner(r.ID) != "":
		return "training"
	}
	return "stopped"
}
