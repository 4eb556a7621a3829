// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
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
	records, err := st.Briefs(results.Query{})
	if err != nil {
		return err
	}
	if len(records) == 0 {
		if kept, _ := st.IDs(); len(kept) > 0 {
			return fmt.Errorf("no run in %s can be read", store) // what is wrong with each has been said
		}
		fmt.Fprintf(out, "No runs in %s yet: go run ./reproduce train\n", store)
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "task\tmethod\tbudget\tseed\tframes\tscore\tstate\trun")
	metrics := map[string]string{}
	for _, r := range plan.Labelled(records) {
		score := viz.Missing
		if len(r.Evals) > 0 {
			score = fmt.Sprintf("%.4g %s", r.Score(), metric(r, metrics))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", r.Task, r.Method, r.Budget, r.Seed,
			viz.Short(float64(r.Frames)), score, state(st, r), r.ID)
	}
	return w.Flush()
}

// metric names what a run is scored by, once for each task with its settings; it is empty if this program does not know them. Other parts
// of the experiment may be of another version of this program.
func metric(r *results.Record, known map[string]string) string {
	var e struct{ Task json.RawMessage }
	if err := json.Unmarshal(r.Experiment, &e); err != nil {
		return ""
	}
	name, ok := known[string(e.Task)]
	if !ok {
		var task envs.Config
		if err := conf.Unmarshal(e.Task, &task); err == nil && task != nil {
			name = plan.Metric(plan.Single(task))
		}
		known[string(e.Task)] = name
	}
	return name
}

// state says whether a run is complete, training now, or waiting to be gone on with.
func state(st *results.Store, r *results.Record) string {
	if r.Complete {
		return "complete"
	}
	if st.Training(r.ID) {
		return "training"
	}
	return "stopped"
}
