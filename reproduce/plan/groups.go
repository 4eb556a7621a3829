// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// Groups groups runs by experiment and labels each by its differences from today's defaults. Labels leave out the
// settings whose keys are in without; "budget" stands for a budget that all runs have. Runs that this program cannot
// read keep their stored label. No two groups on a task have the same label.
func Groups(rs []*results.Record, without ...string) []results.Group {
	if i := slices.Index(without, budgetKey); i >= 0 && !oneBudget(rs) {
		without = slices.Delete(slices.Clone(without), i, i+1)
	}
	return Named(results.Groups(rs), func(r *results.Record) (method, label string) {
		d, err := describeRun(r)
		if err != nil {
			return "", r.Method
		}
		return d.Method, labelOf(d, without)
	})
}

// budgetKey stands for all settings of the budget.
const budgetKey = "budget"

func oneBudget(rs []*results.Record) bool {
	var first string
	for i, r := range rs {
		d, err := describeRun(r)
		if err != nil {
			return false
		}
		d.Changes = slices.DeleteFunc(d.Changes, func(c string) bool { return !ofBudget(c) })
		budget := strings.Join(append(d.Changes, d.Base), " ")
		if i == 0 {
			first = budget
		} else if budget != first {
			return false
		}
	}
	return true
}

func ofBudget(setting string) bool { return strings.HasPrefix(setting, budgetKey+".") }

// Named labels groups. Where groups on a task would have the same label, it adds the settings that differ.
func Named(gs []results.Group, name func(*results.Record) (method, label string)) []results.Group {
	same := map[[2]string][]int{} // by task and label
	for i, g := range gs {
		gs[i].Method, gs[i].Label = name(g.Runs[0])
		key := [2]string{g.Runs[0].Task, gs[i].Label}
		same[key] = append(same[key], i)
	}
	for _, indices := range same {
		if len(indices) > 1 {
			distinguish(gs, indices)
		}
	}
	return gs
}

// distinguish adds the settings in which some groups differ to their labels; of named budgets the name alone.
func distinguish(gs []results.Group, indices []int) {
	all := make([]map[string]string, len(indices))
	keys := map[string]bool{}
	for k, i := range indices {
		all[k], _ = conf.Values(gs[i].Runs[0].Experiment) // empty if this program cannot read it
		delete(all[k], "seed")
		delete(all[k], "forks")
		for key := range all[k] {
			keys[key] = true
		}
	}
	differs := func(key string) bool {
		return slices.ContainsFunc(all, func(v map[string]string) bool { return v[key] != all[0][key] })
	}
	shown := slices.DeleteFunc(slices.Sorted(maps.Keys(keys)), func(key string) bool { return !differs(key) })
	if differs("budget.name") {
		shown = []string{"budget.name"}
	}
	for k, i := range indices {
		for _, key := range shown {
			value, ok := all[k][key]
			if !ok {
				value = viz.Missing
			}
			gs[i].Label += " " + key + "=" + value
		}
		if len(shown) == 0 {
			gs[i].Label += ", run " + gs[i].Runs[0].ID
		}
	}
}

// Labelled returns records under today's labels, in their order. Equal labels at different budgets stay equal, since
// lists of records have a column for the budget.
func Labelled(rs []*results.Record) []*results.Record {
	budgets := map[string][]*results.Record{}
	for _, r := range rs {
		budgets[r.Budget] = append(budgets[r.Budget], r)
	}
	labels := map[*results.Record]string{}
	for _, some := range budgets {
		for _, g := range Groups(some) {
			for _, r := range g.Runs {
				labels[r] = g.Label
			}
		}
	}
	var out []*results.Record
	for _, r := range rs {
		labelled := *r // the store's records are shared
		labelled.Method = labels[r]
		out = append(out, &labelled)
	}
	return out
}

// Archive finds the complete runs of a store at one budget by their experiments. It implements paper.Source.
type Archive struct {
	store  *results.Store
	budget string
	seeds  map[string][]uint64 // of complete runs, by task; nil before the first question
	found  map[string]results.Group
}

// At is the archive of a store at a budget. It sees the runs that are complete when it is first asked.
func At(st *results.Store, budget string) *Archive { return &Archive{store: st, budget: budget} }

// Budget is the name of the budget.
func (a *Archive) Budget() string { return a.budget }

// Runs returns the complete runs of a trial: those with the IDs of its experiments today. A trial that this program
// cannot train has none.
func (a *Archive) Runs(t paper.Trial) (results.Group, error) {
	if a.seeds == nil {
		heads, err := a.store.Heads(results.Query{Budget: a.budget, Complete: true})
		if err != nil {
			return results.Group{}, err
		}
		a.seeds, a.found = map[string][]uint64{}, map[string]results.Group{}
		for _, h := range heads {
			if !slices.Contains(a.seeds[h.Task], h.Seed) {
				a.seeds[h.Task] = append(a.seeds[h.Task], h.Seed)
			}
		}
	}
	key := paper.Label(t.Task+" "+t.Method, t.Set)
	if g, ok := a.found[key]; ok {
		return g, nil
	}
	task, err := FindTask(t.Task)
	if err != nil || len(a.seeds[task.ID]) == 0 {
		return results.Group{}, nil
	}
	e, err := New(Request{Task: t.Task, Method: t.Method, Budget: a.budget, Set: t.Set})
	if err != nil {
		return results.Group{}, nil
	}
	var es []experiment.Config
	for _, seed := range slices.Sorted(slices.Values(a.seeds[task.ID])) {
		e.Seed = seed
		es = append(es, e)
	}
	g, err := Arm{e.Label(), es}.Complete(a.store)
	if err == nil && len(g.Runs) > 0 {
		g = Groups(g.Runs)[0]
	}
	a.found[key] = g
	return g, err
}

// labelOf is the method's name and the changes. Settings whose keys are in without are left out, as all runs beside it
// have them.
func labelOf(d cermiclib.Description, without []string) string {
	d.Changes = slices.DeleteFunc(slices.Clone(d.Changes), func(c string) bool {
		key, _, _ := strings.Cut(c, "=")
		return slices.Contains(without, key) || ofBudget(key) && slices.Contains(without, budgetKey)
	})
	if !slices.ContainsFunc(d.Changes, ofBudget) {
		d.Base = "" // the budget that changes would refer to
	}
	return d.String()
}

// describeRun compares a stored run with today's defaults of the method and the budget that its label names. A run that
// this program cannot read is an error.
func describeRun(r *results.Record) (d cermiclib.Description, err error) {
	e, err := experiment.Of(r)
	if err != nil {
		return d, err
	}
	if e.Task == nil || e.Learner == nil || e.Policy == nil || e.Explore == nil {
		return d, errors.New("it lacks a task, learner, policy or explorer")
	}
	return describe(e)
}

// describe compares an experiment with today's defaults of the method and the budget that its label names.
func describe(e experiment.Config) (d cermiclib.Description, err error) {
	task, err := FindTask(e.Task.Kind())
	if err != nil {
		return d, err
	}
	return cermiclib.Describe(e, usualReward(task))
}
