// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"io"
	"strings"

	"cermic/reproduce/bench"
	"cermic/reproduce/bench/peers"
)

// runBench measures this machine, beside recorded figures of other programs or, with -peers, by turns with these
// programs.
func runBench(ctx context.Context, out io.Writer, args []string) error {
	var only string
	var beside bool
	rounds := 5
	if _, err := parse("bench", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&only, "only", "", "measure one `group`: "+strings.Join(bench.Groups(), ", ")+"; methods and compile take minutes and run only on request")
		backendFlag(f)
		f.BoolVar(&beside, "peers", false, "take turns with VMAS, BenchMARL, torch and Melting Pot on this machine and print the ratios; installs them into "+
			peers.Folder+" the first time (6.3 GB); -only names a group of "+strings.Join(peers.Groups, ", ")+" or a part of one, as env/balance, or "+
			peers.LearningGroup+", which trains for an hour")
		f.IntVar(&rounds, "rounds", rounds, "with -peers: how often each side of a pair is measured")
	}); err != nil {
		return err
	}
	check := bench.Check
	if beside {
		check = peers.Check
	}
	if err := check(only); err != nil {
		return usageError{err}
	}
	if rounds < 1 {
		return usagef("-rounds is %d, want 1 or more", rounds)
	}
	root, err := repository()
	if err != nil {
		return err
	}
	if !beside {
		return bench.Measure(ctx, out, root, only)
	}
	m := peers.Machine{Root: root, Wheel: setup{ctx: ctx, out: io.Discard, root: root}.wheel}
	return m.Measure(ctx, out, only, rounds)
}
