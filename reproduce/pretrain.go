// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/figures"
	"cermic/reproduce/plan"
)

// runPretrain pre-trains a memory on random play of tasks, says how good it got and how to use it.
func runPretrain(ctx context.Context, out io.Writer, args []string) error {
	tasks, kind, target, store := "navigation", memory.DefaultGraph().Kind(), "", defaultStore
	frames, epochs, seed := plan.PretrainFrames, plan.PretrainEpochs, uint64(1)
	if _, err := parse("pretrain", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&tasks, "task", tasks, "`task` to play; several separated by commas, or all")
		f.StringVar(&kind, "memory", kind, "graph, gru or mlp")
		f.StringVar(&target, "target", target, "what it learns to predict of peers: empty for a random encoding of their observations, or "+memory.TargetState+", their state in the simulator")
		f.StringVar(&store, "store", store, "`folder` of the runs; weights go into pretrained below it")
		f.IntVar(&frames, "frames", frames, "frames of random play")
		f.IntVar(&epochs, "epochs", epochs, "epochs over them at most")
		f.Uint64Var(&seed, "seed", seed, "of play and weights")
	}); err != nil {
		return err
	}
	var list []experiment.Pretraining
	for _, name := range taskNames(tasks) {
		p, err := plan.NewPretraining(name, kind)
		if err != nil {
			return usageError{err}
		}
		p.Frames, p.Epochs, p.Seed, p.Target = frames, epochs, seed, target
		if err := conf.Check(p); err != nil {
			return usagef("pre-training: %w", err)
		}
		list = append(list, p)
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := pretrain(ctx, out, st, p); err != nil {
			return err
		}
	}
	if len(list) < 2 {
		return nil
	}
	table, err := figures.TabulatePretraining(st, list)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s", table.Text())
	return err
}

// taskNames splits a list of tasks at commas; "all" stands for every registered one.
func taskNames(list string) []string {
	if list != "all" {
		return strings.Split(list, ",")
	}
	var names []string
	for _, t := range plan.Tasks() {
		names = append(names, t.ID)
	}
	return names
}

// pretrain runs one pre-training and describes it.
func pretrain(ctx context.Context, out io.Writer, st *results.Store, p experiment.Pretraining) error {
	task, kind := p.Task.Kind(), p.Memory.Kind()
	made, err := p.Run(ctx, st, func(stage string, epoch int, loss float64) {
		fmt.Fprintf(out, "%s, %s, epoch %d: held-out loss %.4f\n", task, stage, epoch, loss)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s, %s\nWeights in %s. To use them:\n  -set explore.memory=%s -set explore.memory.pretrained=%s -set explore.memory.pretrain=full\n",
		task, made.Quality, memory.PretrainedPath(st.Dir(), made.Weights), kind, made.Weights)
	return err
}
