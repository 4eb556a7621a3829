// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// runCampaign trains everything that a table of the paper needs and the store lacks: it first says what that costs, goes on
// after a kill, and is not stopped by a run that fails.
func runCampaign(ctx context.Context, out io.Writer, args []string) error {
	var task, method, budget, table, store string
	var seeds, workers, nodes int
	var set repeated
	var only, measure bool
	var on, manifest string
	var cluster slurm
	if _, err := parse("campaign", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&table, "table", "", "the `table`: sota, agents, ablation, density; or choose by -task and -method")
		f.StringVar(&task, "task", "", "`tasks`, separated by commas")
		f.StringVar(&method, "method", "", "`methods`, separated by commas")
		f.StringVar(&budget, "budget", "short", "smoke, explore, short or paper")
		f.IntVar(&seeds, "seeds", 3, "runs of each, with seeds 1 to `n`")
		f.Var(&set, "set", "change a setting, for example explore.alpha=0.5; may be given more than once")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.IntVar(&workers, "workers", 1, "runs trained at the same time")
		forceFlag(f, &ctx)
		f.StringVar(&on, "on", "here", "where to train: here, or slurm for a job array of that scheduler")
		cluster.flags(f)
		f.BoolVar(&only, "plan", false, "say what is missing and what it costs, and train nothing; without -table and -task for every table at every budget")
		f.BoolVar(&measure, "measure", false, "with -plan: first train two collections of each method that has no rate here yet, on tasks of vectors")
		f.StringVar(&manifest, "manifest", "", "write the runs that are missing to a `file` for the verb work, and train nothing")
		f.IntVar(&nodes, "nodes", 4, "with -plan: `size` of the cluster in its last column but one")
		backendFlag(f)
	}); err != nil {
		return err
	}
	switch {
	case seeds < 1 || workers < 1 || cluster.bundle < 1 || nodes < 1:
		return usagef("-seeds is %d, -workers is %d, -bundle is %d and -nodes is %d, want at least 1", seeds, workers, cluster.bundle, nodes)
	case only && table == "" && task == "" && method == "":
		return printOverview(ctx, out, store, seeds, nodes, measure)
	case on != "here" && on != "slurm":
		return usagef("-on is %q, want here or slurm", on)
	case table == "" && (task == "" || method == ""):
		return usagef("a campaign needs -table, or -task and -method")
	case table != "" && (task != "" || method != ""):
		return usagef("-table chooses tasks and methods; leave out -task and -method")
	case on != "slurm" && cluster != slurm{bundle: 1}:
		return usagef("-account, -partition, -gpus, -time, -bundle and -dry-run are for a scheduler: add -on slurm")
	case on == "slurm" && manifest != "":
		return usagef("-on slurm keeps a manifest of its own: leave out -manifest")
	case !only && measure:
		return usagef("-measure measures for a plan: add -plan")
	}
	if err := cluster.check(store); err != nil {
		return err
	}
	es, err := chosen(out, task, method, table, budget, seeds, set)
	if err != nil {
		return usageError{err}
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	if on == "slurm" && cluster.dry {
		return cluster.submit(ctx, out, es, st)
	}
	if manifest != "" {
		return fileManifest(out, manifest, es, st)
	}
	if only && measure {
		if err := measureRates(ctx, out, es, st); err != nil {
			return err
		}
	}
	costs, err := plan.Costs(es, st)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, plan.CostTable(costs).Text()); err != nil || only {
		return err
	}
	if on == "slurm" {
		return cluster.submit(ctx, out, es, st)
	}
	b := newBoard(out, len(es))
	err = run.RunAll(ctx, es, st, workers, b.watch)
	b.end()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(out, "Stopped and saved: the same command goes on from here.")
		return errStopped
	}
	if n := len(b.failed); n > 0 {
		return fmt.Errorf("%s of %d failed; the reasons stand above", plural(n, "run"), len(es))
	}
	return err
}

// printOverview says what every table costs at every budget.
func printOverview(ctx context.Context, out io.Writer, store string, seeds, nodes int, measure bool) error {
	st, err := openStore(store)
	if err != nil {
		return err
	}
	for _, table := range paper.Tables {
		for _, budget := range plan.Budgets {
			if es, _ := plan.Table(table, budget.Budget.Name, seeds); measure {
				if err := measureRates(ctx, out, es, st); err != nil {
					return err
				}
			}
		}
	}
	t, err := plan.Overview(st, seeds, nodes)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, t.Text())
	return err
}

// measureRates measures what es lack, and says so line by line.
func measureRates(ctx context.Context, out io.Writer, es []run.Experiment, st *results.Store) error {
	err := plan.MeasureRates(ctx, es, st, func(method, budget string, fps float64) {
		fmt.Fprintf(out, "measured: %s at %s, %s frames/s\n", method, budget, viz.Short(fps))
	})
	if ctx.Err() != nil {
		return errStopped
	}
	return err
}

// board shows a campaign: on a terminal one line for each run that is training and one that counts, rewritten; elsewhere one
// line when a run ends, and a count now and then.
type board struct {
	*progress
	training []results.Event
	stored   int
	failed   map[string]bool // by experiment
	since    time.Time
	lines    int // that stand on the terminal
}

func newBoard(out io.Writer, runs int) *board {
	return &board{progress: newProgress(out, runs), failed: map[string]bool{}, since: time.Now()}
}

// watch takes one event.
func (b *board) watch(e results.Event) {
	switch {
	case e.Failed != "":
		b.drop(e.Record)
		b.failed[name(e.Record)+e.Record.Task] = true
		b.say("failed  " + name(e.Record) + ": " + e.Failed)
	case e.Note != "":
		if !b.said[e.Note] {
			b.said[e.Note] = true
			b.say(e.Note)
		}
	case e.FromStore:
		b.stored++
		b.finished[e.Record.ID] = true
	case e.Frames >= e.Total && e.Eval != nil: // the evaluation that follows the last iteration
		b.drop(e.Record)
		b.finished[e.Record.ID] = true
		b.say("done    " + name(e.Record) + b.describe(e))
	default:
		b.drop(e.Record)
		b.training = append(b.training, e)
		b.now()
	}
}

// drop forgets that r is training.
func (b *board) drop(r *results.Record) {
	b.training = slices.DeleteFunc(b.training, func(e results.Event) bool { return e.Record.ID == r.ID })
}

// count is the state of the whole campaign.
func (b *board) count() string {
	left := b.runs - len(b.finished) - len(b.failed)
	text := fmt.Sprintf("%d done, %d training, %d failed, %d to go", len(b.finished), len(b.training), len(b.failed), left-len(b.training))
	if done := len(b.finished) - b.stored; done > 0 && left > 0 {
		each := time.Since(b.since) / time.Duration(done)
		text += fmt.Sprintf("; about %s left", viz.Clock((each * time.Duration(left)).Seconds()))
	}
	return text
}

// say writes a line that stays.
func (b *board) say(text string) {
	b.clear()
	b.line(text)
	if !b.live {
		b.line(b.count())
		return
	}
	b.now()
}

// now redraws what is training, on a terminal.
func (b *board) now() {
	if !b.live {
		if time.Since(b.last) > 10*quiet {
			b.line(b.count())
		}
		return
	}
	b.clear()
	for _, e := range b.training {
		fmt.Fprintf(b.out, "%.79s\n", name(e.Record)+b.describe(e))
	}
	fmt.Fprintln(b.out, b.count())
	b.lines = len(b.training) + 1
}

// clear takes the lines that are rewritten off the terminal.
func (b *board) clear() {
	if b.lines > 0 {
		fmt.Fprintf(b.out, "\x1b[%dA\x1b[J", b.lines)
		b.lines = 0
	}
}

// end leaves the last count.
func (b *board) end() {
	b.clear()
	b.line(b.count())
}
