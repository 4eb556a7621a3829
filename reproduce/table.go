// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

const lineWidth = 100

func tableCommand() *cobra.Command {
	var budget string
	var cell cellRequest
	open := func(dir string) (*results.Store, error) {
		if cell.train {
			return openStore(dir)
		}
		return readStore(dir)
	}
	cmd := &cobra.Command{
		Use:   "table [sota|agents|ablation|density]",
		Short: "Print a table of the paper with our results beside it",
		Example: "  table ablation -budget short\n" +
			"  table sota -cell \"MAPPO-CERMIC,Balanc*\" -budget short -train",
		Args: arguments(0, 1, ""),
		RunE: onStore(open, func(cmd *cobra.Command, st *results.Store, args []string) error {
			table, err := paper.FindBenchmark(append(args, paper.Sota.Name)[0])
			if err != nil {
				return usageError{err}
			}
			if _, err := cermiclib.FindPreset(budget); err != nil {
				return usageError{err}
			}
			if cell.name != "" {
				return cell.report(cmd, table, budget, st)
			}
			if err := only(cmd, "without -cell", "budget store"); err != nil {
				return err
			}
			grid, err := table.Results(plan.At(st, budget))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.TrimRight(grid.Text(lineWidth), "\n"))
			return err
		}),
	}
	f := cmd.Flags()
	f.StringVar(&budget, "budget", cermiclib.TableBudget, "`budget` of the runs: "+budgetNames())
	storeFlag(f)
	f.StringVar(&cell.name, "cell", "", "one number, `ROW,COLUMN` as the table heads them")
	f.IntVar(&cell.seeds, "seeds", 3, "with -cell: seeds 1 to `n`")
	setFlag(f, &cell.set)
	f.BoolVar(&cell.train, "train", false, "with -cell: train what is missing")
	return cmd
}

type cellRequest struct {
	name  string // ROW,COLUMN; empty: the whole table
	seeds int
	set   []string
	train bool
}

// report compares the number with ours, after training its missing runs if r.train is set.
func (r *cellRequest) report(cmd *cobra.Command, t *paper.Benchmark, budget string, st *results.Store) error {
	row, column, ok := strings.Cut(r.name, ",")
	if !ok {
		return usagef("-cell %q is not one number: want ROW,COLUMN, for example %q", r.name, t.Rows[0].Head+","+t.Columns[0])
	}
	c, err := plan.NewCell(t, row, column, budget, r.seeds, r.set...)
	if err != nil {
		return usageError{err}
	}
	missing, err := plan.Missing(c.Experiments, st)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if len(missing) > 0 {
		takes, err := plan.Takes(missing, st, st)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Missing: %d of %s. Training takes %s.\n", len(missing), viz.Count(len(c.Experiments), "run"), takes)
		if r.train {
			if err := trainRuns(cmd, missing, st, 1); err != nil {
				return err
			}
		}
	}
	box, err := c.Report(st)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, strings.TrimRight(box.Plain(), "\n"))
	return err
}
