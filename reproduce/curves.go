// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// runCurves draws the learning curves of a task from the store, with BenchMARL's recorded one beside runs on the dense
// reward, and with curves from files of marl-eval or BenchMARL.
func runCurves(_ context.Context, out io.Writer, args []string) error {
	var task, budget, reward, store, file string
	var with repeated
	if _, err := parse("curves", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&task, "task", "balance", "the `task`")
		f.StringVar(&budget, "budget", "short", "of the runs: smoke, short, paper or custom")
		f.StringVar(&reward, "reward", "", "only runs trained on this reward: dense or sparse")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.StringVar(&file, "o", "curves.png", "`file` to write; it ends in .png, .svg or .pdf")
		f.Var(&with, "with", "`file` of marl-eval or BenchMARL whose curves of the task are drawn too; may be given more than once")
	}); err != nil {
		return err
	}
	if reward != "" && reward != string(envs.Dense) && reward != string(envs.Sparse) {
		return usagef("-reward is %q, want dense or sparse", reward)
	}
	if err := storedBudget(budget); err != nil {
		return err
	}
	known, err := plan.FindTask(task)
	if err != nil {
		return usageError{err}
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	records, err := st.Find(results.Query{Task: known.ID, Budget: budget, Complete: true})
	if err != nil {
		return err
	}
	title := known.Name
	if reward != "" {
		records, title = plan.TrainedOn(records, reward), title+", trained on the "+reward+" reward"
	}
	if len(records) == 0 {
		return fmt.Errorf("no complete run of %s at budget %s in %s: go run ./reproduce train -task %s -budget %s", known.ID, budget, store, task, budget)
	}
	others, err := foreign(with, known.ID)
	if err != nil {
		return err
	}
	if err := drawCurves(file, viz.Figure{Title: title, X: "frames", Y: known.Score()}, records, others); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: mean and bootstrap 95 %% interval over seeds of %s\n", file, plural(len(records), "run"))
	return nil
}

// drawCurves writes the evaluations of records, of others, and the peer's.
func drawCurves(file string, around viz.Figure, records, others []*results.Record) error {
	p, err := viz.Curves(around, slices.Concat(viz.Evals(records), viz.Evals(others), peer(records))...)
	if err != nil {
		return err
	}
	return viz.Write(file, p, 18*vg.Centimeter, 10*vg.Centimeter)
}

// foreign reads the runs of a task from files of marl-eval; each method is called after its file, too.
func foreign(files []string, task string) ([]*results.Record, error) {
	var out []*results.Record
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		rs, err := results.ReadMarlEval(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		before := len(out)
		for _, r := range rs {
			if r.Task == task {
				r.Method = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + " " + r.Method
				out = append(out, r)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("%s has no run of %s, but of %s", file, task, rs[0].Task)
		}
	}
	return out, nil
}

// peer is BenchMARL's recorded curves on the task of records, if one of them was trained on the dense reward, as they were.
func peer(records []*results.Record) []viz.Series {
	if len(plan.TrainedOn(records, string(envs.Dense))) == 0 {
		return nil
	}
	return plan.Recorded(records[0].Task)
}
