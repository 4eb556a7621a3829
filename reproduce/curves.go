// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/reproduce/figures"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// runCurves draws the learning curves of a task from the store, with BenchMARL's recorded ones of the same learners beside runs on
// the dense reward, and with curves from files of marl-eval or BenchMARL.
func runCurves(_ context.Context, out io.Writer, args []string) error {
	var task, method, budget, reward, group, store, file string
	var with repeated
	if _, err := parse("curves", out, args, 0, func(f *flag.FlagSet) {
		f.StringVar(&task, "task", defaultTask, "the `task`")
		f.StringVar(&method, "method", "", "only runs of these `methods`, separated by commas")
		f.StringVar(&budget, "budget", plan.DefaultBudget, "of the runs: "+budgetNames()+" or "+plan.CustomBudget)
		f.StringVar(&reward, "reward", "", "only runs trained on this reward: dense or sparse")
		f.StringVar(&group, "group", "", "return of one `group` of agents that has a learner of its own: adversary or agent of simple_adversary")
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
	title, shared := known.Name, []string(nil)
	if reward != "" {
		records, title, shared = figures.TrainedOn(records, reward), title+", trained on the "+reward+" reward", []string{"task.reward"}
	}
	groups := plan.Groups(records, shared...)
	methods, err := methodsOf(method, groups)
	if err != nil {
		return err
	}
	if groups = ofMethods(groups, methods); len(groups) == 0 {
		return nothingToDraw(task, known, methods, budget, reward, store)
	}
	of := viz.Evals
	if group != "" {
		title += ", group " + group
		of = func(gs []results.Group) []viz.Series { return viz.GroupReturns(gs, group) }
	}
	others, err := figures.Imported(with, known.ID, of)
	if twice := figures.RepeatedFileError(""); errors.As(err, &twice) {
		return usagef("-with names %s twice", string(twice))
	}
	if err != nil {
		return err
	}
	if err := drawCurves(file, viz.Figure{Title: title, X: "frames", Y: plan.Score(known)}, of(groups), slices.Concat(others, peer(groups, methods, group))); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: learning curves of %s; the line under each plot says what dots and bands are\n", file, viz.Count(len(results.Flat(groups)), "run"))
	return nil
}

// methodsOf are the methods that a list names, each once, none for an empty one. Known are those of the program and of the runs.
func methodsOf(list string, groups []results.Group) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	var known, out []string
	for _, m := range plan.Methods() {
		known = append(known, m.ID)
	}
	for _, g := range groups {
		if name := methodOf(g); !slices.Contains(known, name) {
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
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// methodOf is the method of runs without its changed settings, the label of those that are of none.
func methodOf(g results.Group) string { return cmp.Or(g.Method, g.Label) }

// ofMethods are the runs of these methods, whatever their settings; of all if there are none.
func ofMethods(groups []results.Group, methods []string) []results.Group {
	return slices.DeleteFunc(slices.Clone(groups), func(g results.Group) bool { return len(methods) > 0 && !slices.Contains(methods, methodOf(g)) })
}

// nothingToDraw says which command trains what was asked for.
func nothingToDraw(task string, known paper.Task, methods []string, budget, reward, store string) error {
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
	names, err := plan.GroupNames(task)
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

// peer is BenchMARL's recorded curves on the task of runs, if some of them were trained on the dense reward, as they were, or if the task has no
// other: those of the learners that the chosen methods are built on; of the group of agents, if one is named.
func peer(groups []results.Group, methods []string, group string) []viz.Series {
	runs := results.Flat(groups)
	if len(runs) > 0 && !plan.OneReward(runs[0].Task) {
		runs = figures.TrainedOn(runs, string(envs.Dense))
	}
	switch {
	case len(runs) == 0:
		return nil
	case group != "":
		return figures.RecordedGroup(runs[0].Task, group, methods...)
	}
	return figures.Recorded(runs[0].Task, methods...)
}
