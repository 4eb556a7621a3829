// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"slices"
	"strings"

	"cermic/envs/conf"
	"cermic/reproduce/bench"
	"cermic/reproduce/bench/peers"
)

// runBench measures the figures and prints each beside its peer's.
func runBench(ctx context.Context, out io.Writer, args []string) error {
	var only string
	var lines, beside bool
	rounds := 5
	if _, err := parse("bench", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&only, "only", "", "measure one `group`: "+strings.Join(bench.Groups(), ", ")+"; "+bench.MethodsGroup+" and "+bench.ProductsGroup+" take minutes and are left out of all, "+
			bench.GPUGroup+" is what a GPU is for, where there is none a prediction for one, "+bench.CompileGroup+" lists the graphs of every method and the times of smoke runs")
		backendFlag(f)
		f.BoolVar(&lines, "json", false, "one JSON object a line")
		f.BoolVar(&beside, "peers", false, "take turns with VMAS, BenchMARL, torch and Melting Pot on this machine, five each, and print the ratios; installs them into "+peers.Folder+" the first time (6.3 GB); -only names a group of "+strings.Join(peers.Groups, ", ")+", or "+peers.LearningGroup+", which trains for an hour; env/balance is a part of one")
		f.IntVar(&rounds, "rounds", rounds, "with -peers: how often each side of a pair is measured")
	}); err != nil {
		return err
	}
	if rounds < 1 {
		return usagef("-rounds is %d, want 1 or more", rounds)
	}
	if beside {
		if err := peers.Check(only); err != nil {
			return usageError{err}
		}
		root, err := repository()
		if err != nil {
			return err
		}
		m := peers.Machine{Root: root, Wheel: setup{ctx: ctx, out: io.Discard, root: root}.wheel}
		return m.Measure(ctx, out, only, rounds, lines)
	}
	known := append(bench.Groups(), bench.GPUGroup, bench.CompileGroup)
	if only != "" && !slices.Contains(known, only) {
		return usagef("unknown group %q%s", only, conf.Near(only, known))
	}
	if only == bench.CompileGroup {
		return bench.Compile(ctx, out, lines)
	}
	if only == bench.GPUGroup {
		if gpu, err := bench.OnGPU(); err != nil || !gpu {
			return errors.Join(err, bench.PredictGPU(ctx, out))
		}
	}
	if err := bench.PrintMachine(out, lines); err != nil {
		return err
	}
	for _, f := range bench.Figures {
		if !f.In(only) {
			continue
		}
		value, err := f.Measure(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := f.Print(out, value, lines); err != nil {
			return err
		}
	}
	return nil
}
