// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// lineWidth is the number of characters in a line of a table.
const lineWidth = 100

func tableCommand() *cobra.Command {
	var budget, store string
	var cell cellRequest
	cmd := &cobra.Command{
		Use:   "table [sota|agents|ablation|density]",
		Short: "Print a table of the paper with our results beside it",
		Example: "  table ablation -budget short\n" +
			"  table sota -cell \"MAPPO-CERMIC,Balanc*\" -budget short -train",
		Args: arguments(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			table, err := paper.FindBenchmark(append(args, paper.Sota.Name)[0])
			if err != nil {
				return usageError{err}
			}
			if _, err := cermiclib.FindPreset(budget); err != nil {
				return usageError{err}
			}
			open := readStore
			if cell.train {
				open = openStore
			}
			st, err := open(store)
			if err != nil {
				return err
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
		},
	}
	f := cmd.Flags()
	f.StringVar(&budget, "budget", cermiclib.TableBudget, "`budget` of the runs: "+budgetNames())
	storeFlag(f, &store)
	f.StringVar(&cell.name, "cell", "", "one number, `ROW,COLUMN` as the table heads them")
	f.IntVar(&cell.seeds, "seeds", 3, "with -cell: seeds 1 to `n`")
	setFlag(f, &cell.set)
	f.BoolVar(&cell.train, "train", false, "with -cell: train what is missing")
	return cmd
}
