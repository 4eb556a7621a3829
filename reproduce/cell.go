// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/campaign"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// reproduction is what the flags of table say about training its numbers.
type reproduction struct {
	cell              string // ROW,COLUMN or ROW; empty: the whole table
	seeds             int
	set               repeated
	train, again, yes bool
}

// declare adds the flags.
func (r *reproduction) declare(f *flag.FlagSet) {
	f.StringVar(&r.cell, "cell", "", "one number, `ROW,COLUMN` as the table heads them, or with -train a ROW")
	f.IntVar(&r.seeds, "seeds", 3, "with -cell or -train: seeds 1 to `n`")
	f.Var(&r.set, "set", "with -cell: change a setting of CERMIC's rows, for example explore.alpha=0.5; may be given more than once")
	f.BoolVar(&r.train, "train", false, "train what is missing")
	f.BoolVar(&r.again, "again", false, "with -cell: train here what is only a committed record")
	f.BoolVar(&r.yes, "yes", false, "with -train: train a row or a table without asking")
}

// run reports one number, after training it if that is asked for, or trains a row or the whole table. done is false where the table is to be printed.
func (r *reproduction) run(ctx context.Context, out io.Writer, t *paper.Benchmark, budget string, st *results.Store) (done bool, err error) {
	row, column, one := strings.Cut(r.cell, ",")
	if one {
		return true, r.one(ctx, out, t, row, column, budget, st)
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
	return false, trainHere(ctx, out, missing, st)
}

// one reports one number and trains it first if that is asked for.
func (r *reproduction) one(ctx context.Context, out io.Writer, t *paper.Benchmark, row, column, budget string, st *results.Store) error {
	c, err := plan.NewCell(t, row, column, budget, r.seeds, r.set...)
	if err != nil {
		return usageError{located(err)}
	}
	into := st
	if r.again {
		if into, err = anew(st.Dir(), c.Experiments); err != nil {
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
			if err := trainHere(ctx, out, missing, into); err != nil {
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

// trainHere trains experiments one after the other.
func trainHere(ctx context.Context, out io.Writer, es []experiment.Config, st *results.Store) error {
	if err := backendHere(); err != nil {
		return err
	}
	p := campaign.NewProgress(out, len(es))
	err := experiment.RunAll(ctx, es, st, 1, p.Watch)
	p.Done()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(out, "Stopped and saved: the same command goes on from here.")
		return errStopped
	}
	return err
}
