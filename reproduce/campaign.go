// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/reproduce/campaign"
	"cermic/reproduce/figures"
	"cermic/reproduce/plan"
	"cermic/viz"
)

type campaignRun struct {
	choice
	on, manifest string
	workers      int
	planOnly     bool
	job          campaign.Slurm
}

func campaignCommand() *cobra.Command {
	c := campaignRun{choice: choice{seeds: seedRange{1, 3}}}
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Train what a table of the paper lacks, here or on Slurm, after stating its cost",
		Example: "  campaign -table sota -budget short -workers 8\n" +
			"  campaign -table all -plan\n" +
			"  campaign -table sota -budget paper -seeds 5 -on slurm -time 4:00:00 -bundle 2 -dry-run",
		RunE: onStore(openStore, func(cmd *cobra.Command, st *results.Store, _ []string) error { return c.run(cmd, st) }),
	}
	f := cmd.Flags()
	f.StringVar(&c.table, "table", "", "`table`: sota, agents, ablation, density or all; or choose by -task and -method")
	f.StringVar(&c.task, "task", "", "`tasks`, separated by commas")
	f.StringVar(&c.method, "method", "", "`methods`, separated by commas")
	f.StringVar(&c.budget, "budget", cermiclib.DefaultBudget, budgetNames())
	f.Var(&c.seeds, "seeds", "train seeds 1 to `n`, or a range of seeds, as 2-3")
	setFlag(f, &c.set)
	storeFlag(f)
	f.IntVar(&c.workers, "workers", 1, "runs trained at the same time")
	f.StringVar(&c.on, "on", "here", "where to train: here, or slurm for a job array")
	f.BoolVar(&c.planOnly, "plan", false, "print the cost and train nothing; alone: of every table at every budget")
	f.StringVar(&c.manifest, "manifest", "", "write the missing runs to a `file` for the command work, and train nothing")
	trainingFlags(f)
	c.job.Flags(f)
	return cmd
}

func (c *campaignRun) everything() bool { return c.table == "" && c.task == "" && c.method == "" }

// check refuses combinations of flags that contradict each other.
func (c *campaignRun) check(cmd *cobra.Command) error {
	switch {
	case c.planOnly && c.everything():
		return only(cmd, "-plan without a table, task and method", "plan seeds store backend")
	case c.manifest != "":
		if err := only(cmd, "-manifest", "manifest table task method budget seeds set store"); err != nil {
			return err
		}
	}
	switch {
	case c.workers < 1:
		return usagef("-workers is %d, want at least 1", c.workers)
	case c.job.Bundle < 1 || c.job.Bundle > maxRuns:
		return usagef("-bundle is %d, want 1 to %d", c.job.Bundle, maxRuns)
	case c.on != "here" && c.on != "slurm":
		return usagef("-on is %q, want here or slurm", c.on)
	case c.table != "" && (c.task != "" || c.method != "" || len(c.set) > 0):
		return usagef("-table chooses tasks, methods and settings: leave out -task, -method and -set")
	case c.table == "" && (c.task == "" || c.method == "") && !c.planOnly:
		return usagef("a campaign needs -table, or -task and -method")
	case c.on == "here" && slices.ContainsFunc(campaign.SlurmFlags, cmd.Flags().Changed):
		return usagef("-%s need -on slurm", strings.Join(campaign.SlurmFlags, ", -"))
	case c.on == "slurm" && cmd.Flags().Changed("workers"):
		return usagef("-workers counts runs on this machine: use -bundle with -on slurm")
	}
	for _, name := range []string{backendName, portableName} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			c.job.Work = append(c.job.Work, "-"+name+"="+f.Value.String())
		}
	}
	return nil
}

// clusterNodes is the size of the cluster that the overview of all tables extrapolates to.
const clusterNodes = 4

func (c *campaignRun) run(cmd *cobra.Command, st *results.Store) error {
	if err := c.check(cmd); err != nil {
		return err
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if c.planOnly && c.everything() {
		t, err := figures.Overview(st, c.seeds.last, clusterNodes)
		if err == nil {
			_, err = io.WriteString(out, t.Text())
		}
		return err
	}
	es, err := c.experiments(out)
	if err != nil {
		return usageError{err}
	}
	switch {
	case c.job.Dry:
		return c.job.Submit(ctx, out, es, st)
	case c.manifest != "":
		return campaign.FileManifest(out, c.manifest, es, st)
	}
	costs, err := plan.Costs(es, st)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, plan.CostTable(costs).Text()); err != nil || c.planOnly {
		return err
	}
	if c.on == "slurm" {
		return c.job.Submit(ctx, out, es, st)
	}
	if es, err = plan.Missing(es, st); err != nil {
		return err
	}
	return trainRuns(cmd, es, st, c.workers)
}

func workCommand() *cobra.Command {
	var index, bundle int
	cmd := &cobra.Command{
		Use:     "work MANIFEST",
		Short:   "Train one bundle of a campaign's manifest, as a task of a job array does",
		Example: "  work -index 0 -bundle 4 -store /shared/runs /shared/sota.jsonl",
		Args:    arguments(1, 1, "a manifest, which campaign -manifest writes"),
		RunE: onStore(openStore, func(cmd *cobra.Command, st *results.Store, args []string) error {
			if index < 0 || bundle < 1 {
				return usagef("-index is %d and -bundle is %d, want at least 0 and 1", index, bundle)
			}
			es, err := campaign.ReadManifest(args[0])
			if err != nil {
				return err
			}
			if index > (len(es)-1)/bundle {
				return fmt.Errorf("%s has %s, so bundle %d is empty", args[0], viz.Count(len(es), "run"), index)
			}
			es = es[index*bundle:]
			return trainRuns(cmd, es[:min(bundle, len(es))], st, 1)
		}),
	}
	f := cmd.Flags()
	storeFlag(f)
	f.IntVar(&index, "index", 0, "number of the bundle, from 0")
	f.IntVar(&bundle, "bundle", 1, "`runs` of a bundle")
	trainingFlags(f)
	return cmd
}
