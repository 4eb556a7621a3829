// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// runStatus shows what is in the store and what runs.
func runStatus(_ context.Context, out io.Writer, args []string) error {
	store, committed := defaultStore, false
	if _, err := parse("status", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.BoolVar(&committed, "committed", false, "list the committed records, too")
	}); err != nil {
		return err
	}
	open := results.Open
	if committed {
		open = openStore
	}
	st, err := open(store)
	if err != nil {
		return err
	}
	records, err := st.Find(results.Query{})
	if err != nil {
		return err
	}
	if len(records) == 0 {
		fmt.Fprintf(out, "No runs in %s yet: go run ./reproduce train\n", store)
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "task\tmethod\tbudget\tseed\tframes\treturn\tstate\trun")
	for _, r := range records {
		score := viz.Missing
		if len(r.Evals) > 0 {
			score = fmt.Sprintf("%.4g", r.Score())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", r.Task, r.Method, r.Budget, r.Seed,
			viz.Short(float64(r.Frames)), score, state(st, r), r.ID)
	}
	return w.Flush()
}

// alive is how old the last sign of life of a training process may be; it gives one every ten seconds.
const alive = 30 * time.Second

// state says whether a run is complete, training now, or waiting to be gone on with.
func state(st *results.Store, r *results.Record) string {
	if r.Complete {
		return "complete"
	}
	if who, silent := st.Owner(r.ID); who != "" && silent < alive {
		return "training"
	}
	return "stopped"
}
