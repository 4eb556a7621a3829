// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/experiment"
	"cermic/reproduce/plan"
)

// runIDs describes the argument of a command about a stored run.
const runIDs = "the ID of a run, or its beginning, which go run ./reproduce status prints"

// evaluateCommand evaluates the weights of a run and prints the scores. Nothing is stored.
func evaluateCommand() *cobra.Command {
	var store string
	var set []string
	cmd := &cobra.Command{
		Use:     "evaluate ID",
		Short:   "Evaluate a trained run: with sampled actions, more episodes or another score",
		Example: "  evaluate 0123abcd\n  evaluate 0123abcd -set budget.sampled=true budget.eval_episodes=200",
		Args:    arguments(1, 1, runIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := readStore(store)
			if err != nil {
				return err
			}
			trained, as, err := plan.Evaluation(st, args[0], set)
			if err != nil {
				return usageError{err}
			}
			e, err := experiment.Evaluate(cmd.Context(), trained, as, st)
			if err != nil {
				return err
			}
			env, err := as.Task.Build(1, 1)
			if err != nil {
				return err
			}
			spec, how := env.Spec(), "greedy"
			if as.Budget.Sampled {
				how = "sampled"
			}
			precision := ""
			if n := float64(len(e.Scores)); n > 1 {
				precision = fmt.Sprintf(" (standard error %.2g)", stat.StdErr(stat.StdDev(e.Scores, nil), n))
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s  %s, seed %d, at %d frames: %d %s episodes\n",
				trained.Task.Kind(), trained.Label(), trained.Seed, e.Frames, len(e.Scores), how)
			fmt.Fprintf(out, "  score      %.4g %s%s\n", e.Score(), spec.Metric, precision)
			printDetails(out, spec, e.Early, e.Success, e.Groups)
			return nil
		},
	}
	setFlag(cmd.Flags(), &set)
	storeFlag(cmd.Flags(), &store)
	backendFlag(cmd.Flags())
	return cmd
}
