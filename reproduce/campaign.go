// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/cluster"
	"cermic/reproduce/figures"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// runCampaign trains everything that a table of the paper needs and the store lacks: it first says what that costs, goes on
// after a kill, and is not stopped by a run that fails.
func runCampaign(ctx context.Context, out io.Writer, args []string) error {
	var c choice
	var store, on, manifest, order string
	var workers, nodes int
	var only, measure bool
	var job cluster.Slurm
	var given *flag.FlagSet
	if _, err := parse("campaign", out, args, 0, func(f *flag.FlagSet) {
		given = f
		f.StringVar(&c.table, "table", "", "the `table`: sota, agents, ablation, density; or choose by -task and -method")
		f.StringVar(&c.task, "task", "", "`tasks`, separated by commas")
		f.StringVar(&c.method, "method", "", "`methods`, separated by commas")
		f.StringVar(&order, "order", "", "value: what all tables lack, most information an hour first")
		f.StringVar(&c.budget, "budget", plan.DefaultBudget, budgetNames()+"; with -order value "+plan.TableBudget+" where none is given")
		f.IntVar(&c.seeds, "seeds", 3, "runs of each, with seeds 1 to `n`")
		f.Var(&c.set, "set", "change a setting, for example explore.alpha=0.5; may be given more than once")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.IntVar(&workers, "workers", 1, "runs trained at the same time")
		forceFlag(f, &ctx)
		f.StringVar(&on, "on", "here", "where to train: here, or slurm for a job array of that scheduler")
		job.Flags(f)
		f.BoolVar(&only, "plan", false, "say what is missing and what it costs, and train nothing; without -table and -task for every table at every budget")
		f.BoolVar(&measure, "measure", false, "with -plan: first train two rollout batches of each method that has no rate here yet, on tasks without image observations")
		f.StringVar(&manifest, "manifest", "", "write the runs that are missing to a `file` for the verb work, and train nothing")
		f.IntVar(&nodes, "nodes", 4, "with -plan: `size` of the cluster in its last column but one")
		backendFlag(f)
		portableFlag(f)
	}); err != nil {
		return err
	}
	has := func(name string) (found bool) {
		given.Visit(func(f *flag.Flag) { found = found || f.Name == name })
		return found
	}
	switch {
	case min(c.seeds, workers, job.Bundle, nodes) < 1 || max(c.seeds, job.Bundle, nodes) > maxRuns:
		return usagef("-seeds is %d, -workers is %d, -bundle is %d and -nodes is %d, want 1 to %d, and of workers at least 1",
			c.seeds, workers, job.Bundle, nodes, maxRuns)
	case order != "" && order != "value":
		return usagef("-order is %q, want value", order)
	case order != "":
		if !has("budget") {
			c.budget = plan.TableBudget
		}
		return valuable(ctx, out, store, c.budget, c.seeds, workers, only)
	case only && c.table == "" && c.task == "" && c.method == "":
		return printOverview(ctx, out, store, c.seeds, nodes, measure)
	case on != "here" && on != "slurm":
		return usagef("-on is %q, want here or slurm", on)
	case c.table == "" && (c.task == "" || c.method == ""):
		return usagef("a campaign needs -table, or -task and -method, or -order value")
	case c.table != "" && (c.task != "" || c.method != ""):
		return usagef("-table chooses tasks and methods; leave out -task and -method")
	case on != "slurm" && !reflect.DeepEqual(job, cluster.Slurm{Bundle: 1}):
		return usagef("-account, -partition, -gpus, -time, -bundle and -dry-run are for a scheduler: use -on slurm")
	case on == "slurm" && has("workers"):
		return usagef("-workers counts runs on this machine, and -on slurm trains elsewhere: use -bundle, or leave out -workers")
	}
	job.Work = handedOn(given, "backend", "force", "portable")
	if err := job.Check(store); err != nil {
		return usageError{err}
	}
	es, err := c.experiments(out)
	if err != nil {
		return usageError{err}
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	if on == "slurm" && job.Dry {
		return job.Submit(ctx, out, es, st)
	}
	if manifest != "" {
		return cluster.FileManifest(out, manifest, es, st)
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
		return job.Submit(ctx, out, es, st)
	}
	return trainAll(ctx, out, es, st, workers)
}

// trainAll trains what es lack, shows how far it is, and is not stopped by a run that fails.
func trainAll(ctx context.Context, out io.Writer, es []experiment.Config, st *results.Store, workers int) error {
	if err := backendHere(); err != nil {
		return err
	}
	takes, err := plan.Durations(es, st)
	if err != nil {
		return err
	}
	b := newBoard(out, len(es))
	b.takes = takes
	err = experiment.RunAll(ctx, es, st, workers, b.watch)
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

// valuable trains what the tables lack at a budget, or says what that is, in the order of what an hour of it tells.
func valuable(ctx context.Context, out io.Writer, store, budget string, seeds, workers int, only bool) error {
	if _, err := plan.FindPreset(budget); err != nil {
		return usageError{err}
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	steps, err := plan.ByValue(st, budget, seeds)
	if err != nil {
		return err
	}
	show := len(steps)
	if !only {
		show = min(show, 10)
	}
	if _, err := io.WriteString(out, plan.ValueTable(steps, show).Text()); err != nil || only || len(steps) == 0 {
		return err
	}
	es := make([]experiment.Config, len(steps))
	for i, s := range steps {
		es[i] = s.Experiment
	}
	return trainAll(ctx, out, es, st, workers)
}

// printOverview says what every table costs at every budget.
func printOverview(ctx context.Context, out io.Writer, store string, seeds, nodes int, measure bool) error {
	st, err := openStore(store)
	if err != nil {
		return err
	}
	for _, table := range paper.Benchmarks {
		for _, budget := range plan.Presets {
			if es, _ := plan.Benchmark(table, budget.Budget.Name, seeds); measure {
				if err := measureRates(ctx, out, es, st); err != nil {
					return err
				}
			}
		}
	}
	t, err := figures.Overview(st, seeds, nodes)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, t.Text())
	return err
}

// measureRates measures what es lack, and says so line by line.
func measureRates(ctx context.Context, out io.Writer, es []experiment.Config, st *results.Store) error {
	err := plan.MeasureRates(ctx, es, st, func(method, budget string, fps float64) {
		fmt.Fprintf(out, "measured: %s at %s, %s frames/s\n", method, budget, viz.Short(fps))
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// board shows a campaign: on a terminal one line for each run that is training and one that counts, rewritten; elsewhere one
// line when a run ends, and a count now and then.
type board struct {
	*progress
	training []results.Event
	old      map[string]bool          // that were found complete, by ID
	from     map[string]int           // frames at which runs were when this program first saw them, by ID
	failed   map[string]bool          // by experiment
	takes    map[string]time.Duration // of the whole of each run, as estimated, by ID; nil or without one that nobody has measured
	since    time.Time
	lines    int // that stand on the terminal
}

func newBoard(out io.Writer, runs int) *board {
	return &board{progress: newProgress(out, runs), failed: map[string]bool{}, old: map[string]bool{}, from: map[string]int{}, since: time.Now()}
}

// watch takes one event.
func (b *board) watch(e results.Event) {
	switch {
	case e.State != "": // nothing is trained before it, or after
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
		b.old[e.Record.ID] = true
		b.finished[e.Record.ID] = true
	case e.Frames >= e.Total && e.Eval != nil: // the evaluation that follows the last iteration
		b.drop(e.Record)
		b.finished[e.Record.ID] = true
		b.say("done    " + name(e.Record) + b.describe(e))
	default:
		if _, seen := b.from[e.Record.ID]; !seen {
			b.from[e.Record.ID] = e.Frames
		}
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
	if t := b.left(); left > 0 && t > 0 {
		text += fmt.Sprintf("; about %s left", viz.Clock(t.Seconds()))
	}
	if b.live {
		text = bar(float64(len(b.finished)+len(b.failed))+b.underWay(), float64(b.runs)) + " " + text
	}
	return text
}

// underWay is what the runs in training have behind them, in runs.
func (b *board) underWay() (sum float64) {
	for _, e := range b.training {
		sum += min(1, float64(e.Frames)/float64(max(1, e.Total)))
	}
	return sum
}

// left is how long the rest takes at the pace so far, if runs take as long as estimated relative to each other; 0 before there is a pace.
func (b *board) left() time.Duration {
	var whole, done, stored time.Duration
	for _, t := range b.takes {
		whole += t
	}
	mean := time.Minute // where nothing is known all runs take as long
	if n := len(b.takes); n > 0 {
		mean = whole / time.Duration(n)
	}
	of := func(id string) time.Duration {
		if t, ok := b.takes[id]; ok {
			return t
		}
		return mean
	}
	whole += mean * time.Duration(b.runs-len(b.takes))
	for id := range b.finished {
		if b.old[id] {
			stored += of(id)
		} else {
			done += of(id)
		}
	}
	for _, e := range b.training {
		done += time.Duration(float64(of(e.Record.ID)) * float64(e.Frames-b.from[e.Record.ID]) / float64(max(1, e.Total)))
	}
	if done <= 0 {
		return 0
	}
	return time.Duration(float64(whole-stored-done) / float64(done) * float64(time.Since(b.since)))
}

// bar draws how much of something is done.
func bar(done, of float64) string {
	const width = 24
	full := int(width * min(1, done/max(1, of)))
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", width-full) + "]"
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
