// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func statusCommand() *cobra.Command {
	var store string
	var committed bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "List the stored runs with their scores and IDs, and the runs in training",
		Args:  arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := readStore(store)
			if err == nil && !committed {
				st, err = results.Open(store)
			}
			if err != nil {
				return err
			}
			records, err := st.Heads(results.Query{})
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if len(records) == 0 {
				if ids, _ := st.IDs(); len(ids) > 0 { // the store has reported what is wrong with each
					return fmt.Errorf("no run in %s can be read", store)
				}
				fmt.Fprintf(out, "No runs in %s yet: go run ./reproduce train\n", store)
				return nil
			}
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "task\tmethod\tbudget\tseed\tframes\tscore\tstate\trun")
			for _, r := range plan.Labelled(records) {
				score := viz.Missing
				if len(r.Evals) > 0 {
					score = fmt.Sprintf("%.4g", r.Score())
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n",
					r.Task, r.Method, r.Budget, r.Seed, viz.Short(float64(r.Frames)), score, state(st, r), r.ID)
			}
			return w.Flush()
		},
	}
	storeFlag(cmd.Flags(), &store)
	cmd.Flags().BoolVar(&committed, "committed", false, "also list the committed records")
	return cmd
}

func state(st *results.Store, r *results.Record) string {
	switch {
	case r.Complete:
		return "complete"
	case st.Owner(r.ID) != "":
		return "training"
	}
	return "stopped"
}
