// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// reproduction is what the flags of table say about training its numbers.
type reproduction struct {
	cell              string // ROW,COLUMN or ROW; empty: the whole table
	seeds             int
	set               []string
	train, again, yes bool
}

// declare adds the flags.
func (r *reproduction) declare(f *pflag.FlagSet) {
	f.StringVar(&r.cell, "cell", "", "one number, `ROW,COLUMN` as the table heads them, or with -train a ROW")
	f.IntVar(&r.seeds, "seeds", 3, "with -cell or -train: seeds 1 to `n`")
	setFlag(f, &r.set)
	f.BoolVar(&r.train, "train", false, "train what is missing")
	f.BoolVar(&r.again, "again", false, "with -cell: train here what is only a committed record")
	f.BoolVar(&r.yes, "yes", false, "with -train: train a row or a table without asking")
}

// trains reports whether runs may be added to the store.
func (r *reproduction) trains() bool { return r.train || r.again }

// run reports one number, after training it if that is asked for, or trains a row or the whole table. done is false where the table is to be printed.
func (r *reproduction) run(cmd *cobra.Command, t *paper.Benchmark, budget string, st *results.Store) (done bool, err error) {
	out := cmd.OutOrStdout()
	row, column, one := strings.Cut(r.cell, ",")
	if one {
		return true, r.one(cmd, t, row, column, budget, st)
	}
	if r.again || len(r.set) > 0 || r.cell != "" && !r.train {
		return true, usagef("-cell %q is not one number: want ROW,COLUMN, for example %q", r.cell, t.Rows[0].Head+","+t.Columns[0])
	}
	if !r.train {
		return false, nil
	}
	if r.seeds < 1 {
		return true, usagef("-seeds is %d, want 1 or more", r.seeds)
	}
	if r.cell != "" {
		if t, err = t.Row("", row); err != nil {
			return true, usageError{err}
		}
	}
	es, left := plan.Benchmark(t, budget, r.seeds)
	for _, err := range left {
		fmt.Fprintln(out, "left out:", err)
	}
	missing, err := plan.Missing(es, st)
	if err != nil || len(missing) == 0 {
		return false, err
	}
	takes, err := plan.Takes(missing, st)
	if err != nil {
		return true, err
	}
	if question := fmt.Sprintf("Train %d of %d runs, %s?", len(missing), len(es), takes); !r.yes {
		if err := confirm(out, os.Stdin, question, "nothing was trained"); err != nil {
			return true, err
		}
	}
	return false, trainRuns(cmd, missing, st, 1)
}

// one reports one number and trains it first if that is asked for.
func (r *reproduction) one(cmd *cobra.Command, t *paper.Benchmark, row, column, budget string, st *results.Store) error {
	out := cmd.OutOrStdout()
	c, err := plan.NewCell(t, row, column, budget, r.seeds, r.set...)
	if err != nil {
		return located(err)
	}
	into := st
	if r.again {
		if into, err = withoutRecords(st.Dir(), c.Experiments); err != nil {
			return err
		}
	}
	missing, err := plan.Missing(c.Experiments, into)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		takes, err := plan.Takes(missing, st)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Missing: %d of %d runs. Training takes %s.\n", len(missing), len(c.Experiments), takes)
		if r.train || r.again {
			if err := trainRuns(cmd, missing, into, 1); err != nil {
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

// confirm asks on the terminal. Where nobody answers, -yes must say it; no says what a refusal means.
func confirm(out io.Writer, in io.Reader, question, no string) error {
	fmt.Fprintf(out, "%s [y/N] ", question)
	answer, err := bufio.NewReader(in).ReadString('\n')
	switch a := strings.ToLower(strings.TrimSpace(answer)); {
	case a == "y" || a == "yes":
		return nil
	case err != nil && a == "":
		fmt.Fprintln(out)
		return usagef("%s: nobody answered, and -yes was not given", no)
	}
	return errors.New(no)
}
