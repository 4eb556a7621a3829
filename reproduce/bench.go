// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cermic/envs/conf"
	"cermic/reproduce/bench"
	"cermic/reproduce/bench/peers"
)

// peerRounds counts the measurements on each side of a pair.
const peerRounds = 5

// benchCommand measures this machine's speed and prints each figure beside its peer's.
func benchCommand() *cobra.Command {
	var group string
	var lines, beside bool
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure the speed of this machine, beside VMAS, torch and BenchMARL",
		Example: "  bench -only update\n  bench -peers -only env",
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, out := cmd.Context(), cmd.OutOrStdout()
			if beside {
				if err := peers.Check(group); err != nil {
					return usageError{err}
				}
				root, err := repository()
				if err != nil {
					return err
				}
				m := peers.Machine{Root: root, Wheel: setup{ctx: ctx, out: io.Discard, root: root}.wheel}
				return m.Measure(ctx, out, group, peerRounds, lines)
			}
			known := append(bench.Groups(), bench.GPUGroup, bench.CompileGroup)
			if group != "" && !slices.Contains(known, group) {
				return usagef("unknown group %q%s", group, conf.Near(group, known))
			}
			if group == bench.CompileGroup {
				return bench.Compile(ctx, out, lines)
			}
			if group == bench.GPUGroup {
				if gpu, err := bench.OnGPU(); err != nil || !gpu {
					return errors.Join(err, bench.PredictGPU(ctx, out))
				}
			}
			if err := bench.PrintMachine(out, lines); err != nil {
				return err
			}
			for _, f := range bench.Figures {
				if !f.In(group) {
					continue
				}
				value, err := f.Measure(ctx)
				if err := canceled(ctx, err); err != nil {
					return err
				}
				if err := f.Print(out, value, lines); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&group, "only", "", "measure one `group`: "+strings.Join(bench.Groups(), ", ")+
		", "+bench.GPUGroup+" (without a GPU a prediction) or "+bench.CompileGroup+" (the graphs of all methods); "+
		"by default all but "+bench.MethodsGroup+" and "+bench.ProductsGroup+", which take minutes; "+
		"with -peers "+strings.Join(peers.Groups, ", ")+" or "+peers.LearningGroup+", which takes an hour")
	f.BoolVar(&lines, "json", false, "print one JSON object a line")
	f.BoolVar(&beside, "peers", false, "alternate with VMAS, BenchMARL, torch and Melting Pot here; "+
		"installs them into "+peers.Folder+" (6.3 GB)")
	backendFlag(f)
	return cmd
}
