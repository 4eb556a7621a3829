// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/conf"
	"cermic/envs/rng"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
	"cermic/viz"
)

// runCheck trains a sample of the committed records again and compares: bit by bit where backend and processor are the same,
// else with what the record's other seeds let one expect.
func runCheck(ctx context.Context, out io.Writer, args []string) error {
	return check(ctx, out, args, records.FS)
}

// check is runCheck on the records of fsys.
func check(ctx context.Context, out io.Writer, args []string, fsys fs.FS) error {
	var task, method, budget string
	var count int
	var seed uint64
	ids, err := parse("check", out, args, maxRuns, func(f *flag.FlagSet) {
		f.StringVar(&task, "task", "", "only records of this `task`, for example vmas/balance")
		f.StringVar(&method, "method", "", "only records of this `method`, as status shows it")
		f.StringVar(&budget, "budget", "", "only records of this `budget`")
		f.IntVar(&count, "n", 3, "records to train again")
		f.Uint64Var(&seed, "seed", 1, "of the choice")
		portableFlag(f)
	})
	if err != nil {
		return err
	}
	if count < 1 {
		return usagef("-n is %d, want at least 1", count)
	}
	if err := storedBudget(budget); err != nil {
		return err
	}
	if task != "" {
		t, err := plan.FindTask(task)
		if err != nil {
			return usageError{err}
		}
		task = t.ID
	}
	temporary, err := os.MkdirTemp("", "check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	committed, err := results.Open(temporary)
	if err != nil {
		return err
	}
	if err := committed.Base(fsys); err != nil {
		return err
	}
	all, err := committed.Find(results.Query{Task: task, Budget: budget, Complete: true})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(plan.Labelled(all), func(r *results.Record) bool { return method != "" && r.Method != method })
	chosen := sample(all, count, seed)
	if len(ids) > 0 {
		if chosen, err = named(all, ids); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return errors.New("no record of that task, method and budget is committed: status -committed lists those that are, export records -o reproduce/records adds runs")
	}
	fresh, err := results.Open(temporary) // without the committed ones, so that everything is trained
	if err != nil {
		return err
	}
	differs, untrained := 0, 0
	for _, want := range chosen {
		fmt.Fprintf(out, "%s  %s  %s, seed %d, budget %s\n", want.ID, want.Task, want.Method, want.Seed, want.Budget)
		got, err := again(ctx, want, fresh)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // of another version, or begun with pre-trained weights that are not here: the others can be checked all the same
			fmt.Fprintln(out, "  cannot be trained here:", err)
			untrained++
			continue
		}
		verdict, same := compare(want, got, all)
		fmt.Fprintln(out, "  "+verdict)
		if !same {
			differs++
		}
	}
	if differs > 0 {
		return fmt.Errorf("%s did not come out again", viz.Count(differs, "record"))
	}
	if untrained > 0 {
		return fmt.Errorf("%s could not be trained here; the reason stands above", viz.Count(untrained, "record"))
	}
	return nil
}

// sample draws count records, or all if there are fewer.
func sample(all []*results.Record, count int, seed uint64) []*results.Record {
	order := make([]int32, len(all))
	rng.New(seed, "check").Perm(order)
	var out []*results.Record
	for _, i := range order[:min(count, len(order))] {
		out = append(out, all[i])
	}
	return out
}

// named finds records by the beginnings of their IDs.
func named(all []*results.Record, ids []string) (out []*results.Record, err error) {
	for _, id := range ids {
		var found []*results.Record
		for _, r := range all {
			if strings.HasPrefix(r.ID, id) {
				found = append(found, r)
			}
		}
		if id == "" || len(found) != 1 {
			return nil, fmt.Errorf("%s of the committed records begin with %q, want one: status -committed lists their IDs", viz.Count(len(found), "ID"), id)
		}
		out = append(out, found[0])
	}
	return out, nil
}

// again trains what a record says.
func again(ctx context.Context, r *results.Record, st *results.Store) (*results.Record, error) {
	var e experiment.Config
	if err := conf.Unmarshal(r.Experiment, &e); err != nil {
		return nil, fmt.Errorf("its settings are of another version of this program: %w", err)
	}
	e.Method = r.Method
	id, err := e.ID()
	if err != nil {
		return nil, err
	}
	if id != r.ID {
		return nil, fmt.Errorf("its settings now have the identity %s: settings were added since it was trained", id)
	}
	return experiment.Run(ctx, e, st)
}

// compare says in a sentence whether got is what want promises: the same bits where backend, processor and instruction set are the
// same, elsewhere those bits or a score within the spread over seeds.
func compare(want, got *results.Record, all []*results.Record) (verdict string, same bool) {
	a, b := want.Host, got.Host
	alike := a.Backend == b.Backend && a.CPU == b.CPU && a.Model == b.Model && a.ISA == b.ISA && a.GPU == b.GPU
	about := fmt.Sprintf("trained with %s, the record with %s", machine(b), machine(a))
	where := results.Difference(want, got)
	switch {
	case where == "" && !alike:
		return "equal in every bit, although " + about, true
	case where == "":
		return fmt.Sprintf("equal in every bit: %s, %s", viz.Count(len(want.Evals), "evaluation"), viz.Count(len(want.Scalars), "scalar")), true
	case alike:
		return fmt.Sprintf("differs although backend, processor and instruction set are the same: %s", where), false
	}
	var others []float64
	for _, r := range all {
		if r.SameExperiment(want) {
			others = append(others, r.Score())
		}
	}
	if len(others) < 3 {
		return fmt.Sprintf("%s: the last return is %.4g, the record's %.4g; too few seeds for an interval", about, got.Score(), want.Score()), true
	}
	near := stats.Further(others)
	if math.IsNaN(near.Low) { // the seeds are all equal, and so should another one be
		near.Low, near.High = near.Value, near.Value
	}
	x := got.Score()
	if near.Excludes(x) {
		return fmt.Sprintf("%s: the last return is %.4g, outside [%.4g, %.4g], where 95 %% of further seeds would be", about, x, near.Low, near.High), false
	}
	return fmt.Sprintf("%s: the last return is %.4g, within [%.4g, %.4g], where 95 %% of further seeds would be", about, x, near.Low, near.High), true
}

// machine is what the bits of a result depend on beside its settings.
func machine(h results.Host) string {
	if h.GPU != "" {
		return fmt.Sprintf("%s on %s beside %s", h.Backend, h.GPU, h.CPU)
	}
	isa := h.ISA
	if isa == "" {
		isa = "instruction set not recorded"
	}
	model := h.Model
	if model == "" {
		model = "model not recorded"
	}
	return fmt.Sprintf("%s on %s (%s, %s)", h.Backend, h.CPU, model, isa)
}
