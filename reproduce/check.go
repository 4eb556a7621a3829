// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
	"cermic/viz"
)

func checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check ID...",
		Short:   "Train committed records again and compare",
		Example: "  check d03905886af6f3ad f9e16f8e3798efcc",
		Args:    arguments(1, maxRuns, "IDs of committed records, which status -committed prints"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return check(cmd.Context(), cmd.OutOrStdout(), records.FS, ids)
		},
	}
	portableFlag(cmd.Flags())
	return cmd
}

func check(ctx context.Context, out io.Writer, fsys fs.FS, ids []string) error {
	committed, done, err := storeOf(fsys)
	if err != nil {
		return err
	}
	defer done()
	all, err := committed.Find(results.Query{Complete: true})
	if err != nil {
		return err
	}
	all = plan.Labelled(all)
	var chosen []*results.Record
	for _, id := range ids {
		head, err := plan.Find(committed, id)
		if err != nil {
			return usageError{err}
		}
		i := slices.IndexFunc(all, func(r *results.Record) bool { return r.ID == head.ID })
		if i < 0 {
			return usagef("run %s is not complete", head.ID)
		}
		chosen = append(chosen, all[i])
	}
	fresh, err := results.Open(committed.Dir()) // without the records, so that everything is trained
	if err != nil {
		return err
	}
	differ, untrained := 0, 0
	for _, want := range chosen {
		fmt.Fprintf(out, "%s  %s  %s, seed %d, budget %s\n", want.ID, want.Task, want.Method, want.Seed, want.Budget)
		got, err := retrain(ctx, want, fresh)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintln(out, "  cannot be trained here:", err)
			untrained++
			continue
		}
		verdict, same := compare(want, got, all)
		fmt.Fprintln(out, "  "+verdict)
		if !same {
			differ++
		}
	}
	if differ > 0 {
		return fmt.Errorf("%s did not come out again", viz.Count(differ, "record"))
	}
	if untrained > 0 {
		return fmt.Errorf("%s could not be trained here; the reason stands above", viz.Count(untrained, "record"))
	}
	return nil
}

// storeOf opens a temporary store with the records of fsys; done deletes it.
func storeOf(fsys fs.FS) (st *results.Store, done func(), err error) {
	dir, err := os.MkdirTemp("", "committed")
	if err != nil {
		return nil, nil, err
	}
	if st, err = results.Open(dir); err == nil {
		st.Base(results.NewLayer(fsys))
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return st, func() { os.RemoveAll(dir) }, nil
}

func retrain(ctx context.Context, r *results.Record, st *results.Store) (*results.Record, error) {
	e, err := experiment.Of(r)
	if err != nil {
		return nil, fmt.Errorf("its settings are of another version of this program: %w", err)
	}
	if id, err := e.ID(); err != nil {
		return nil, err
	} else if id != r.ID {
		return nil, fmt.Errorf("its settings now have the ID %s: settings were added since it was trained", id)
	}
	return experiment.Run(ctx, e, st)
}

// compare states whether got reproduces want: bit by bit on the same backend, processor and instruction set.
// Elsewhere a score in the 95 % prediction interval of the record's seeds suffices, too.
func compare(want, got *results.Record, all []*results.Record) (verdict string, same bool) {
	a, b := want.Host, got.Host
	sameMachine := a.Backend == b.Backend && a.CPU == b.CPU && a.Model == b.Model && a.ISA == b.ISA && a.GPU == b.GPU
	machines := fmt.Sprintf("trained with %s, the record with %s", machine(b), machine(a))
	difference := results.Difference(want, got)
	switch {
	case difference == "" && !sameMachine:
		return "equal in every bit, although " + machines, true
	case difference == "":
		return fmt.Sprintf("equal in every bit: %s, %s",
			viz.Count(len(want.Evals), "evaluation"), viz.Count(len(want.Scalars), "scalar")), true
	case sameMachine:
		return "differs although backend, processor and instruction set are the same: " + difference, false
	}
	var scores []float64
	for _, r := range all {
		if r.SameExperiment(want) {
			scores = append(scores, r.Score())
		}
	}
	x := got.Score()
	if len(scores) < 3 {
		return fmt.Sprintf("%s: the last return is %.4g, the record's %.4g; too few seeds for an interval",
			machines, x, want.Score()), true
	}
	interval := stats.Further(scores)
	if math.IsNaN(interval.Low) { // all seeds are equal
		interval.Low, interval.High = interval.Value, interval.Value
	}
	same = !interval.Excludes(x)
	position := map[bool]string{true: "within", false: "outside"}[same]
	return fmt.Sprintf("%s: the last return is %.4g, %s [%.4g, %.4g], the 95 %% interval of further seeds",
		machines, x, position, interval.Low, interval.High), same
}

// machine names what the bits of a result depend on beside its settings.
func machine(h results.Host) string {
	if h.GPU != "" {
		return fmt.Sprintf("%s on %s beside %s", h.Backend, h.GPU, h.CPU)
	}
	return fmt.Sprintf("%s on %s (%s, %s)", h.Backend, h.CPU,
		cmp.Or(h.Model, "model not recorded"), cmp.Or(h.ISA, "instruction set not recorded"))
}
