// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/reproduce/campaign"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// The runs of train without a task, a method or a setting. On Balance's sparse reward random play has no success.
const (
	demoMethods    = "mappo,mappo-cermic"
	demoSetting    = "task.reward=dense"
	demoDirections = `
What next
  go run ./reproduce curves -reward dense       draws these runs beside BenchMARL's: curves.png
  go run ./reproduce table sota -budget short   the paper's first table beside the committed runs
  go run ./reproduce lab                        the notebooks: 00_start begins with these runs
`
)

// allTables is the value of -table that chooses all of them.
const allTables = "all"

type choice struct {
	task, method, table, budget string
	seeds                       seedRange
	set                         []string
}

func trainCommand() *cobra.Command {
	c := choice{seeds: seedRange{1, 1}}
	var fork, board string
	var workers int
	var again bool
	cmd := &cobra.Command{
		Use:   "train [-again ID...]",
		Short: "Train methods on tasks, or continue stored runs",
		Example: "  train -task balance -method mappo-cermic -budget short -seeds 3 -set explore.alpha=0.5\n" +
			"  train -fork 0123abcd@60000 -set explore.alpha=1",
		Args: runsOf(&again),
	}
	f := cmd.Flags()
	f.StringVar(&c.task, "task", "", "`tasks`, separated by commas (default "+defaultTask+" on its dense reward)")
	f.StringVar(&c.method, "method", "", "`methods`, separated by commas (default "+defaultMethod+
		", with neither task nor setting also mappo)")
	f.StringVar(&c.budget, "budget", cermiclib.DefaultBudget, budgetNames())
	f.Var(&c.seeds, "seeds", "train seeds 1 to `n`, or a range of seeds, as 2-3")
	setFlag(f, &c.set)
	f.StringVar(&fork, "fork", "", "continue a copy of run ID from these frames with changed settings: `ID@FRAMES`")
	f.BoolVar(&again, "again", false, "train the runs ID... here, of which only records are committed")
	storeFlag(f)
	f.IntVar(&workers, "workers", 1, "runs trained at the same time")
	f.StringVar(&board, "tensorboard", "", "also write TensorBoard event files below this `folder` while training")
	trainingFlags(f)
	cmd.RunE = onStore(openStore, func(cmd *cobra.Command, st *results.Store, ids []string) (err error) {
		if workers < 1 {
			return usagef("-workers is %d, want at least 1", workers)
		}
		const machine = " store workers backend portable"
		es, demo := make([]experiment.Config, 1), false
		switch {
		case fork != "":
			if err = only(cmd, "-fork", "fork set"+machine); err == nil {
				es[0], err = plan.Branch(st, fork, c.set)
			}
		case again:
			if err = only(cmd, "-again", "again"+machine); err == nil {
				es, err = storedRuns(st, ids)
			}
		default:
			demo = c.complete()
			es, err = c.experiments(cmd.OutOrStdout())
		}
		if err != nil {
			return usageError{err}
		}
		if again {
			if st, err = results.Open(st.Dir()); err != nil { // the committed records have no weights
				return err
			}
		}
		var watch []func(results.Event)
		if board != "" {
			live := export.NewLive(board)
			defer func() { err = errors.Join(err, live.Close()) }()
			watch = append(watch, live.Watch)
		}
		if err := trainRuns(cmd, es, st, workers, watch...); err != nil {
			return err
		}
		if err := summarize(cmd.OutOrStdout(), es, st); err != nil || !demo {
			return err
		}
		_, err = io.WriteString(cmd.OutOrStdout(), demoDirections)
		return err
	})
	return cmd
}

// runsOf accepts IDs of runs, with -again alone.
func runsOf(again *bool) cobra.PositionalArgs {
	return func(_ *cobra.Command, ids []string) error {
		switch {
		case *again && len(ids) == 0:
			return usagef("train -again needs IDs of runs")
		case !*again && len(ids) > 0:
			return usagef("train takes no argument %q: a task stands behind -task, a method behind -method", ids[0])
		}
		return nil
	}
}

// trainRuns trains experiments and shows their progress. A failed run does not stop the others.
func trainRuns(
	cmd *cobra.Command, es []experiment.Config, st *results.Store, workers int, watch ...func(results.Event),
) error {
	p := campaign.NewProgress(cmd.OutOrStdout(), len(es))
	err := experiment.RunAll(cmd.Context(), es, st, workers, append(watch, p.Watch)...)
	if len(es) < 2 {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), p)
	if p.Failed() > 0 && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%d of %d runs failed; the reasons stand above", p.Failed(), len(es))
	}
	return err
}

// complete fills in the task and the method, and reports whether neither these nor a setting were given.
func (c *choice) complete() (demo bool) {
	demo = c.task == "" && c.method == "" && len(c.set) == 0
	if demo {
		c.method = demoMethods
	}
	rewarded := slices.ContainsFunc(c.set, func(s string) bool { return strings.HasPrefix(s, "task.reward=") })
	if c.task == "" && !rewarded {
		c.set = append(c.set, demoSetting)
	}
	c.task, c.method = cmp.Or(c.task, defaultTask), cmp.Or(c.method, defaultMethod)
	return demo
}

func storedRuns(st *results.Store, ids []string) (es []experiment.Config, err error) {
	for _, id := range ids {
		e, err := plan.Stored(st, id)
		if err != nil {
			return nil, err
		}
		es = append(es, e)
	}
	return es, nil
}

// experiments are the runs of a table, or of every task with every method.
func (c choice) experiments(out io.Writer) ([]experiment.Config, error) {
	if c.table == "" {
		es, err := plan.Grid(strings.Split(c.task, ","), strings.Split(c.method, ","), c.budget, c.seeds.last, c.set...)
		return c.seeds.of(es), err
	}
	tables := paper.Benchmarks
	if c.table != allTables {
		t, err := paper.FindBenchmark(c.table)
		if err != nil {
			return nil, err
		}
		tables = []*paper.Benchmark{t}
	}
	if _, err := cermiclib.FindPreset(c.budget); err != nil {
		return nil, err
	}
	es, missing := plan.Benchmarks(tables, c.budget, c.seeds.last)
	if len(es) == 0 {
		return nil, errors.Join(missing...)
	}
	for _, err := range missing {
		fmt.Fprintln(out, "left out:", err)
	}
	return c.seeds.of(es), nil
}
