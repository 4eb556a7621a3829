// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/figures"
	"cermic/reproduce/plan"
)

func pretrainCommand() *cobra.Command {
	var tasks, kind string
	var frames, epochs int
	var seed uint64
	cmd := &cobra.Command{
		Use:     "pretrain",
		Short:   "Pre-train a memory on random rollouts of tasks",
		Example: "  pretrain -task navigation\n  pretrain -task all -memory gru -frames 20000",
		RunE: onStore(openStore, func(cmd *cobra.Command, st *results.Store, _ []string) error {
			var list []experiment.Pretraining
			for _, name := range taskNames(tasks) {
				p, err := plan.NewPretraining(name, kind)
				if err != nil {
					return usageError{err}
				}
				p.Frames, p.Epochs, p.Seed = frames, epochs, seed
				if err := conf.Check(p); err != nil {
					return usagef("pre-training: %w", err)
				}
				list = append(list, p)
			}
			out := cmd.OutOrStdout()
			for _, p := range list {
				if err := pretrain(cmd.Context(), out, st, p); err != nil {
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
		}),
	}
	f := cmd.Flags()
	f.StringVar(&tasks, "task", "navigation", "`tasks`, separated by commas, or all")
	f.StringVar(&kind, "memory", memory.DefaultGraph().Kind(), "graph, gru or mlp")
	storeFlag(f)
	f.IntVar(&frames, "frames", plan.PretrainFrames, "frames of random rollouts")
	f.IntVar(&epochs, "epochs", plan.PretrainEpochs, "maximal number of epochs")
	f.Uint64Var(&seed, "seed", 1, "seed of rollouts and weights")
	return cmd
}

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

// pretrain runs one pre-training and prints its quality and the settings that use it.
func pretrain(ctx context.Context, out io.Writer, st *results.Store, p experiment.Pretraining) error {
	task, kind := p.Task.Kind(), p.Memory.Kind()
	made, err := p.Run(ctx, st, func(stage string, epoch int, loss float64) {
		fmt.Fprintf(out, "%s, %s, epoch %d: held-out loss %.4f\n", task, stage, epoch, loss)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s, %s\nWeights in %s. To use them:\n"+
		"  -set explore.memory=%s explore.memory.pretrained=%s explore.memory.pretrain=full\n",
		task, made.Quality, memory.PretrainedPath(st.Dir(), made.Weights), kind, made.Weights)
	return err
}
