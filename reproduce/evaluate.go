// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/experiment"
	"cermic/reproduce/plan"
)

// runEvaluate plays an evaluation with the weights of a run, and says what came of it. Nothing is stored.
func runEvaluate(ctx context.Context, out io.Writer, args []string) error {
	var store string
	var set repeated
	rest, err := parse("evaluate", out, args, 1, func(f *flag.FlagSet) {
		f.Var(&set, "set", "change a `setting` of task or budget: budget.sampled=true, budget.eval_episodes=200, task.score=sum100; may be given more than once")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		backendFlag(f)
	})
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("evaluate: want the ID of a run, which go run ./reproduce status prints")
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	trained, as, err := plan.Evaluation(st, rest[0], set)
	if err != nil {
		return usageError{located(err)}
	}
	e, err := experiment.Evaluate(ctx, trained, as, st)
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
	fmt.Fprintf(out, "%s  %s, seed %d, at %d frames: %d %s episodes\n", trained.Task.Kind(), trained.Label(), trained.Seed, e.Frames, len(e.Scores), how)
	fmt.Fprintf(out, "  score      %.4g %s%s\n", e.Score(), spec.Metric, precision)
	printBeside(out, spec, e.Early, e.Success, e.Groups)
	return nil
}
