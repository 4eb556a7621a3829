// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"

	"cermic/cermiclib/memory"
	"cermic/envs"
	"cermic/reproduce/plan"
)

// runPretrain pre-trains the graph memory on random play of a task, says how good it got and how to use it.
func runPretrain(ctx context.Context, out io.Writer, args []string) error {
	name, store, frames, epochs, seed := "navigation", defaultStore, 0, 0, uint64(1)
	if _, err := parse("pretrain", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&name, "task", name, "`task` to play")
		f.StringVar(&store, "store", store, "`folder` of the runs; weights go into pretrained below it")
		f.IntVar(&frames, "frames", 100_000, "frames of random play")
		f.IntVar(&epochs, "epochs", 20, "passes over them at most")
		f.Uint64Var(&seed, "seed", seed, "of play and weights")
	}); err != nil {
		return err
	}
	task, err := plan.FindTask(name)
	if err != nil {
		return usageError{err}
	}
	cfg, err := envs.Default(task.ID)
	if err != nil {
		return err
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	p := plan.Pretraining{Task: cfg, Memory: memory.DefaultGraph(), Frames: frames, Epochs: epochs, Seed: seed}
	made, err := p.Run(ctx, st, func(stage string, epoch int, loss float64) {
		fmt.Fprintf(out, "%s, epoch %d: held-out loss %.4f\n", stage, epoch, loss)
	})
	if errors.Is(err, context.Canceled) {
		return errStopped
	}
	if err != nil {
		return err
	}
	describe(out, task.ID, made.Quality)
	fmt.Fprintf(out, "Weights in %s. To use them:\n  -set explore.memory=graph -set explore.memory.pretrained=%s -set explore.memory.pretrain=full\n",
		memory.PretrainedPath(store, made.Weights), made.Weights)
	return nil
}

// blindAUC is where a detector is called no good. Chance is not the line to draw: where peers start, and what they push, leave
// traces in observations that hold nothing else about them.
const blindAUC = 0.75

// describe says what the detector and the edges are worth on held-out play.
func describe(out io.Writer, task string, q memory.Quality) {
	fmt.Fprintf(out, "\n%s, held-out random play; %.1f %% of pairs within sight\n", task, 100*q.Present)
	if math.IsNaN(q.AUC) {
		fmt.Fprintln(out, "  detector: nothing to learn, all labels are equal")
	} else {
		fmt.Fprintf(out, "  detector: AUC %.3f (0.5 is chance)\n", q.AUC)
	}
	if !math.IsNaN(q.RMSE) {
		fmt.Fprintf(out, "  edges: RMSE %.3f world half sizes over pairs within sight; predicting their mean: %.3f\n", q.RMSE, q.Spread)
	}
	if q.AUC < blindAUC {
		fmt.Fprintln(out, "  An agent's observation tells little or nothing about where its peers are on this task, so no detector can do well on it.")
	}
}
