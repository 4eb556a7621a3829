// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// cellRequest asks for one number of a table.
type cellRequest struct {
	name  string // ROW,COLUMN; empty: the whole table
	seeds int
	set   []string
	train bool
}

// report compares the number with ours, after training its missing runs if that is asked for.
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
		takes, err := plan.Takes(missing, st)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Missing: %d of %d runs. Training takes %s.\n", len(missing), len(c.Experiments), takes)
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
