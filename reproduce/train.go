// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
)

// runTrain trains what the flags name, or goes on with it, and sums up.
func runTrain(ctx context.Context, out io.Writer, args []string) error {
	var task, method, budget, table, fork, store string
	var seeds, workers int
	var set repeated
	var given *flag.FlagSet
	_, err := parse("train", out, args, 0, func(f *flag.FlagSet) {
		given = f
		f.StringVar(&task, "task", "balance", "`tasks` to train on, separated by commas")
		f.StringVar(&method, "method", "mappo-cermic", "`methods` to train, separated by commas")
		f.StringVar(&table, "table", "", "train what this `table` of the paper needs, instead of -task and -method")
		f.StringVar(&fork, "fork", "", "go on from run ID at so many frames, `ID@FRAMES`, with what -set changes, as a run of its own")
		f.StringVar(&budget, "budget", "smoke", "smoke, explore, short or paper")
		f.IntVar(&seeds, "seeds", 1, "runs of each, with seeds 1 to `n`")
		f.Var(&set, "set", "change a setting, for example explore.alpha=0.5; may be given more than once")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.IntVar(&workers, "workers", 1, "runs trained at the same time")
		forceFlag(f, &ctx)
		backendFlag(f)
	})
	if err != nil {
		return err
	}
	if seeds < 1 || workers < 1 {
		return usagef("-seeds is %d and -workers is %d, want at least 1", seeds, workers)
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	var es []run.Experiment
	if fork != "" {
		es, err = forked(given, st, fork, set)
	} else {
		es, err = chosen(out, task, method, table, budget, seeds, set)
	}
	if err != nil {
		return usageError{err}
	}
	p := newProgress(out, len(es))
	err = run.RunAll(ctx, es, st, workers, p.watch)
	p.done()
	if errors.Is(err, context.Canceled) { // and nothing else went wrong
		fmt.Fprintln(out, "Stopped and saved: the same command goes on from here.")
		return errStopped
	}
	if err != nil {
		return err
	}
	return summarise(out, es, st)
}

// forked makes the experiment that goes on from another run, which says all that other flags would.
func forked(given *flag.FlagSet, st *results.Store, from string, set []string) ([]run.Experiment, error) {
	var extra error
	given.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"fork", "set", "store"}, f.Name) {
			extra = fmt.Errorf("-%s is given by the run that -fork goes on from: change its settings by -set", f.Name)
		}
	})
	if extra != nil {
		return nil, extra
	}
	e, err := plan.Branch(st, from, set)
	return []run.Experiment{e}, err
}

// chosen makes the experiments that the flags of train name.
func chosen(out io.Writer, task, method, table, budget string, seeds int, set []string) ([]run.Experiment, error) {
	if table != "" && len(set) > 0 {
		return nil, errors.New("-set changes what the table compares: use it with -task and -method")
	}
	if table != "" {
		t, err := paper.FindTable(table)
		if err != nil {
			return nil, err
		}
		es, missing := plan.Table(t, budget, seeds)
		for _, err := range missing {
			fmt.Fprintln(out, "left out:", err)
		}
		return es, nil
	}
	return plan.Grid(strings.Split(task, ","), strings.Split(method, ","), budget, seeds, set...)
}

// defaultStore is where runs are kept, seen from the repository's root.
const defaultStore = "runs"

// openStore opens the folder of the runs, with the committed records below it.
func openStore(dir string) (*results.Store, error) {
	st, err := results.Open(dir)
	if err != nil {
		return nil, err
	}
	return st, st.Base(records.FS)
}
