// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// runDelete deletes runs from the store's folder.
func runDelete(_ context.Context, out io.Writer, args []string) error {
	var store string
	var yes bool
	ids, err := parse("delete", out, args, maxRuns, func(f *flag.FlagSet) {
		f.BoolVar(&yes, "yes", false, "do not ask")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
	})
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return usagef("delete: want IDs of runs, which go run ./reproduce status prints")
	}
	st, err := results.Open(store) // committed records are none of its
	if err != nil {
		return err
	}
	var whole []string
	for _, id := range ids {
		found, about, err := deletable(st, id)
		if err != nil {
			return usageError{err}
		}
		if !slices.Contains(whole, found) {
			whole = append(whole, found)
			fmt.Fprintln(out, about)
		}
	}
	if !yes {
		if err := confirm(out, os.Stdin, fmt.Sprintf("Delete %s with all results and weights?", viz.Count(len(whole), "run")), "nothing was deleted"); err != nil {
			return err
		}
	}
	for _, id := range whole {
		if err := st.Delete(id); errors.Is(err, results.ErrBusy) {
			return fmt.Errorf("%w: stop it first", err)
		} else if err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "Deleted: %s\n", viz.Count(len(whole), "run"))
	return err
}

// deletable is the whole ID of a run and a line about it; also of one that cannot be read.
func deletable(st *results.Store, id string) (whole, about string, err error) {
	r, err := plan.Find(st, id)
	if err == nil {
		if r, err = st.Get(r.ID); err == nil {
			r = plan.Labelled([]*results.Record{r})[0]
			return r.ID, fmt.Sprintf("%s  %s  %s, seed %d, budget %s, %s frames", r.ID, r.Task, r.Method, r.Seed, r.Budget, viz.Short(float64(r.Frames))), nil
		}
	}
	all, failed := st.IDs()
	if failed != nil {
		return "", "", failed
	}
	if slices.Contains(all, id) {
		return id, id + "  cannot be read", nil
	}
	if committed, failed := openStore(st.Dir()); failed == nil {
		if r, failed := plan.Find(committed, id); failed == nil {
			if _, own := st.Head(r.ID); errors.Is(own, fs.ErrNotExist) {
				return "", "", fmt.Errorf("run %s is a committed record, which belongs to the repository: there is nothing of it in %s to delete", r.ID, st.Dir())
			}
		}
	}
	return "", "", err
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
