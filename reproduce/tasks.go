// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"cermic/envs/scripted"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"

	"gonum.org/v1/gonum/stat"
)

// milestones are the numbers of parts of the sparse reward that runTasks compares.
var milestones = []int{1, 2, 4, 8}

// runTasks prints what random and scripted play earn on every task, or on one, before anything is learned.
func runTasks(ctx context.Context, out io.Writer, args []string) error {
	var episodes int
	var seed uint64
	names, err := parse("tasks", out, args, 1, func(f *flag.FlagSet) {
		f.IntVar(&episodes, "episodes", 64, "episodes of each player")
		f.Uint64Var(&seed, "seed", 1, "of the episodes")
	})
	if err != nil {
		return err
	}
	if episodes < 1 || episodes > 1<<16 {
		return usagef("-episodes is %d, want 1 to %d", episodes, 1<<16)
	}
	tasks := plan.Tasks()
	if len(names) > 0 {
		t, err := plan.FindTask(names[0])
		if err != nil {
			return usageError{err}
		}
		tasks = []paper.Task{t}
	}
	fmt.Fprintf(out, "Play without learning: mean ± standard deviation over %d episodes, seed %d\n", episodes, seed)
	for _, t := range tasks {
		played, err := plan.Baselines(t.ID, milestones, episodes, seed)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		printPlayed(out, t.ID, played)
	}
	return nil
}

// printPlayed prints one task's table.
func printPlayed(out io.Writer, task string, played []*scripted.Episodes) {
	fmt.Fprintf(out, "\n%s: sparse reward and success over %d steps, the benchmark's metric over %d\n",
		task, played[0].Horizon, played[0].EvalHorizon)
	fmt.Fprintf(out, "  %-18s %10s %8s %16s %18s\n", "player", "milestones", "success", "sparse return", played[0].Metric)
	for _, p := range played {
		success := "–"
		if p.Success != nil {
			success = fmt.Sprintf("%.2f", stat.Mean(p.Success, nil))
		}
		fmt.Fprintf(out, "  %-18s %10d %8s %16s %18s\n", p.Policy, p.Milestones, success, meanAndSpread(p.Sparse), meanAndSpread(p.Dense))
	}
}

// meanAndSpread formats mean ± standard deviation, of a single number itself.
func meanAndSpread(x []float64) string {
	if len(x) == 1 {
		return fmt.Sprintf("%.2f", x[0])
	}
	centre, spread := stat.MeanStdDev(x, nil)
	return fmt.Sprintf("%.2f ± %.2f", centre, spread)
}
