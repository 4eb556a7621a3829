// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// runCurves draws the learning curves of a task from the store, with BenchMARL's recorded ones of the same learners beside runs on
// the dense reward, and with curves from files of marl-eval or BenchMARL.
func runCurves(_ context.Context, out io.Writer, args []string) error {
	var task, method, budget, reward, group, store, file string
	var with repeated
	if _, err := parse("curves", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&task, "task", "balance", "the `task`")
		f.StringVar(&method, "method", "", "only runs of these `methods`, separated by commas")
		f.StringVar(&budget, "budget", "short", "of the runs: smoke, short, paper or custom")
		f.StringVar(&reward, "reward", "", "only runs trained on this reward: dense or sparse")
		f.StringVar(&group, "group", "", "return of one `group` of agents that is trained apart: adversary or agent of simple_adversary")
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
	if err := knownGroup(known.ID, group); err != nil {
		return err
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	records, err := st.Find(results.Query{Task: known.ID, Budget: budget, Complete: true})
	if err != nil {
		return err
	}
	methods, err := methodsOf(method, records)
	if err != nil {
		return err
	}
	title := known.Name
	if reward != "" {
		records, title = plan.TrainedOn(records, reward), title+", trained on the "+reward+" reward"
	}
	records = ofMethods(records, methods)
	if len(records) == 0 {
		return nothingToDraw(task, known, methods, budget, reward, store)
	}
	of := viz.Evals
	if group != "" {
		title += ", group " + group
		of = func(rs []*results.Record) []viz.Series { return viz.GroupEvals(rs, group) }
	}
	others, err := imported(with, known.ID, of)
	if err != nil {
		return err
	}
	if err := drawCurves(file, viz.Figure{Title: title, X: "frames", Y: known.Score()}, of(records), slices.Concat(others, peer(records, methods, group))); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: mean and bootstrap 95 %% interval over seeds of %s\n", file, plural(len(records), "run"))
	return nil
}

// methodsOf are the methods that a list names, none for an empty one. Known are those of the program and of the records.
func methodsOf(list string, records []*results.Record) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	var known, out []string
	for _, m := range plan.Methods() {
		known = append(known, m.ID)
	}
	for _, r := range records {
		if name := ownName(r); !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	for name := range strings.SplitSeq(list, ",") {
		if m, err := plan.FindMethod(name); err == nil {
			name = m.ID
		}
		if !slices.Contains(known, name) {
			return nil, usagef("unknown method %q%s", name, conf.Near(name, known))
		}
		out = append(out, name)
	}
	return out, nil
}

// ownName is the method of a record without its changed settings.
func ownName(r *results.Record) string {
	name, _, _ := strings.Cut(r.Method, " ")
	return name
}

// ofMethods are the records of these methods, whatever their settings; of all if there are none.
func ofMethods(records []*results.Record, methods []string) []*results.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *results.Record) bool { return len(methods) > 0 && !slices.Contains(methods, ownName(r)) })
}

// nothingToDraw says which command trains what was asked for.
func nothingToDraw(task string, known plan.Task, methods []string, budget, reward, store string) error {
	of, command := "", "go run ./reproduce train -task "+task
	if len(methods) > 0 {
		list := strings.Join(methods, ",")
		of, command = " by "+list, command+" -method "+list
	}
	if budget == plan.CustomBudget {
		command += " -set budget.frames=60000"
	} else {
		command += " -budget " + budget
	}
	if reward != "" {
		of, command = of+" trained on the "+reward+" reward", command+" -set task.reward="+reward
	}
	return fmt.Errorf("no complete run of %s%s at budget %s in %s: %s", known.ID, of, budget, store, command)
}

// knownGroup refuses the name of a group that the task has not.
func knownGroup(task, group string) error {
	names, err := plan.Groups(task)
	switch {
	case group == "" || slices.Contains(names, group):
		return nil
	case err != nil:
		return err
	case len(names) == 0:
		return usagef("-group %s: all agents of %s are one group, leave it out", group, task)
	}
	return usagef("-group is %q, want %s%s", group, strings.Join(names, " or "), conf.Near(group, names))
}

// drawCurves writes our curves and, as references, what others recorded.
func drawCurves(file string, around viz.Figure, ours, others []viz.Series) error {
	p, err := viz.Curves(around, slices.Concat(ours, others)...)
	if err != nil {
		return err
	}
	return viz.Write(file, p, 18*vg.Centimeter, 10*vg.Centimeter)
}

// peer is BenchMARL's recorded curves on the task of records, if one of them was trained on the dense reward, as they were: those
// of the learners that the chosen methods are built on, after which they are called; of the group, if one is named.
func peer(records []*results.Record, methods []string, group string) []viz.Series {
	if len(plan.TrainedOn(records, string(envs.Dense))) == 0 {
		return nil
	}
	recorded := plan.Recorded(records[0].Task)
	if group != "" {
		recorded = plan.RecordedGroup(records[0].Task, group)
	}
	return slices.DeleteFunc(recorded, func(s viz.Series) bool {
		learner := strings.TrimPrefix(s.Label, "BenchMARL ")
		return len(methods) > 0 && !slices.ContainsFunc(methods, func(m string) bool { return strings.HasPrefix(m, learner) })
	})
}
