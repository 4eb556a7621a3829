// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/campaign"
	"cermic/reproduce/figures"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// runCampaign trains everything that a table of the paper needs and the store lacks: it first says what that costs,
// goes on after a kill, and is not stopped by a run that fails.
func runCampaign(ctx context.Context, out io.Writer, args []string) error {
	c := choice{seeds: seedRange{1, 3}}
	var store, on, manifest string
	var workers, nodes int
	var only bool
	var job campaign.Slurm
	var given *flag.FlagSet
	if _, err := parse("campaign", out, args, 0, func(f *flag.FlagSet) {
		given = f
		f.StringVar(&c.table, "table", "", "the `table`: sota, agents, ablation, density, or all of them; or choose by -task and -method")
		f.StringVar(&c.task, "task", "", "`tasks`, separated by commas")
		f.StringVar(&c.method, "method", "", "`methods`, separated by commas")
		f.StringVar(&c.budget, "budget", plan.DefaultBudget, budgetNames())
		f.Var(&c.seeds, "seeds", "runs of each, with seeds 1 to `n`, or with those of a range, as 2-3")
		f.Var(&c.set, "set", "change a setting, for example explore.alpha=0.5; may be given more than once")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.IntVar(&workers, "workers", 1, "runs trained at the same time")
		forceFlag(f, &ctx)
		f.StringVar(&on, "on", "here", "where to train: here, or slurm for a job array of that scheduler")
		job.Flags(f)
		f.BoolVar(&only, "plan", false, "say what is missing and what it costs, and train nothing; without -table and -task for every table at every budget")
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
	if err := c.seeds.check(); err != nil {
		return usageError{err}
	}
	whole := c.table == "" && c.task == "" && c.method == "" // not what the flags choose, but all tables
	switch {
	case min(workers, job.Bundle, nodes) < 1 || max(job.Bundle, nodes) > maxRuns:
		return usagef("-workers is %d, -bundle is %d and -nodes is %d, want 1 to %d, and of workers at least 1", workers, job.Bundle, nodes, maxRuns)
	case c.seeds.first > 1 && (only && whole):
		return usagef("-seeds is %s: over all tables it is how many, as %d; a range needs -table, or -task and -method", &c.seeds, c.seeds.last)
	case only && whole:
		return printOverview(out, store, c.seeds.last, nodes)
	case on != "here" && on != "slurm":
		return usagef("-on is %q, want here or slurm", on)
	case c.table == "" && (c.task == "" || c.method == ""):
		return usagef("a campaign needs -table, or -task and -method")
	case c.table != "" && (c.task != "" || c.method != ""):
		return usagef("-table chooses tasks and methods; leave out -task and -method")
	case on != "slurm" && !reflect.DeepEqual(job, campaign.Slurm{Bundle: 1}):
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
		return campaign.FileManifest(out, manifest, es, st)
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
	b := campaign.NewBoard(out, len(es), takes)
	err = experiment.RunAll(ctx, es, st, workers, b.Watch)
	b.Done()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(out, "Stopped and saved: the same command goes on from here.")
		return errStopped
	}
	if n := b.Failed(); n > 0 {
		return fmt.Errorf("%s of %d failed; the reasons stand above", viz.Count(n, "run"), len(es))
	}
	return err
}

// printOverview says what every table costs at every budget.
func printOverview(out io.Writer, store string, seeds, nodes int) error {
	st, err := openStore(store)
	if err != nil {
		return err
	}
	t, err := figures.Overview(st, seeds, nodes)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, t.Text())
	return err
}
