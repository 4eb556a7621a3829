// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/figures"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func curvesCommand() *cobra.Command {
	var task, method, budget, reward, file string
	var with []string
	cmd := &cobra.Command{
		Use:   "curves",
		Short: "Draw the learning curves of a task, with BenchMARL's beside ours",
		Example: "  curves -task balance -reward dense -budget short\n" +
			"  curves -task navigation -method mappo,qmix -budget short -o navigation.svg",
		RunE: onStore(readStore, func(cmd *cobra.Command, st *results.Store, _ []string) error {
			if reward != "" && reward != string(envs.Dense) && reward != string(envs.Sparse) {
				return usagef("-reward is %q, want dense or sparse", reward)
			}
			if err := storedBudget(budget); err != nil {
				return err
			}
			known, err := plan.FindTask(task)
			if err != nil {
				return usageError{err}
			}
			records, err := st.Find(results.Query{Task: known.ID, Budget: budget, Complete: true})
			if err != nil {
				return err
			}
			title, shared := known.Name, []string(nil)
			if reward != "" {
				records, shared = figures.TrainedOn(records, reward), []string{"task.reward"}
				title += ", trained on the " + reward + " reward"
			}
			methods, err := findMethods(method)
			if err != nil {
				return err
			}
			groups := slices.DeleteFunc(plan.Groups(records, shared...), func(g results.Group) bool {
				return len(methods) > 0 && !slices.Contains(methods, g.Method)
			})
			if len(groups) == 0 {
				return fmt.Errorf("no complete run of %s with these flags in %s: train one with go run ./reproduce train",
					known.ID, st.Dir())
			}
			others, err := figures.Imported(with, known.ID)
			if err != nil {
				return err
			}
			series := slices.Concat(viz.Evals(groups), others, benchMARL(groups, methods))
			p, err := viz.Curves(viz.Figure{Title: title, X: "frames", Y: plan.Score(known)}, series...)
			if err != nil {
				return err
			}
			if err := viz.Plotted(p, 18*vg.Centimeter, 10*vg.Centimeter).Write(file); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: learning curves of %s; the line under each plot says what dots and bands are\n",
				file, viz.Count(len(results.Flat(groups)), "run"))
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&task, "task", defaultTask, "the `task`")
	f.StringVar(&method, "method", "", "only runs of these `methods`, separated by commas")
	storedBudgetFlag(f, &budget)
	f.StringVar(&reward, "reward", "", "only runs trained on this `reward`: dense or sparse")
	storeFlag(f)
	f.StringVarP(&file, "output", "o", "curves.png", "`file` to write, with the ending .png or .svg")
	f.StringArrayVar(&with, "with", nil, "add the task's curves in a `file` of BenchMARL; may be repeated")
	return cmd
}

func findMethods(list string) (ids []string, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		m, err := plan.FindMethod(name)
		if err != nil {
			return nil, usageError{err}
		}
		ids = append(ids, m.ID)
	}
	return ids, nil
}

// benchMARL returns BenchMARL's recorded curves of the methods' learners, which were trained on the dense reward. It
// returns none if no run was trained on that reward, unless the task has no other.
func benchMARL(groups []results.Group, methods []string) []viz.Series {
	runs := results.Flat(groups)
	if len(runs) > 0 && !plan.OneReward(runs[0].Task) {
		runs = figures.TrainedOn(runs, string(envs.Dense))
	}
	if len(runs) == 0 {
		return nil
	}
	return figures.Recorded(runs[0].Task, methods...)
}
