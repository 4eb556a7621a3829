// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// Groups puts runs of the same experiment together and labels each by how it differs from today's defaults; settings whose keys are in
// without are left out of the labels, and with "budget" a changed budget that all runs have. What cannot be compared, as it is of another program, keeps the label that it has. No two groups on
// a task have the same label.
func Groups(rs []*results.Record, without ...string) []results.Group {
	if i := slices.Index(without, budgetKey); i >= 0 && !oneBudget(rs) {
		without = slices.Delete(slices.Clone(without), i, i+1)
	}
	return Named(results.Groups(rs), func(r *results.Record) (method, label string) {
		d, err := describe(r)
		if err != nil {
			return "", r.Method
		}
		return d.method, d.label(without...)
	})
}

// budgetKey stands for all settings of the budget.
const budgetKey = "budget"

// oneBudget reports whether the labels of runs would name the same budget.
func oneBudget(rs []*results.Record) bool {
	var first string
	for i, r := range rs {
		d, err := describe(r)
		if err != nil {
			return false
		}
		own := d.base + " " + strings.Join(slices.DeleteFunc(d.changes, func(c string) bool { return !ofBudget(c) }), " ")
		if i == 0 {
			first = own
		} else if own != first {
			return false
		}
	}
	return true
}

func ofBudget(setting string) bool { return strings.HasPrefix(setting, budgetKey+".") }

// Named labels groups, and adds what else differs between those on a task whose labels would be the same.
func Named(gs []results.Group, name func(*results.Record) (method, label string)) []results.Group {
	alike := map[[2]string][]int{}
	for i, g := range gs {
		gs[i].Method, gs[i].Label = name(g.Runs[0])
		key := [2]string{g.Runs[0].Task, gs[i].Label}
		alike[key] = append(alike[key], i)
	}
	for _, same := range alike {
		if len(same) > 1 {
			tell(gs, same)
		}
	}
	return gs
}

// tell adds to the labels of some groups the settings in which these differ, but for what follows from the name of a budget.
func tell(gs []results.Group, same []int) {
	all := make([]map[string]string, len(same))
	keys := map[string]bool{}
	for k, i := range same {
		all[k], _ = conf.Values(gs[i].Runs[0].Experiment) // nothing of a run of another program
		delete(all[k], "seed")
		delete(all[k], "forks")
		for key := range all[k] {
			keys[key] = true
		}
	}
	differs := func(key string) bool {
		return slices.ContainsFunc(all, func(v map[string]string) bool { return v[key] != all[0][key] })
	}
	tells := slices.DeleteFunc(slices.Sorted(maps.Keys(keys)), func(key string) bool { return !differs(key) })
	if differs("budget.name") {
		tells = []string{"budget.name"}
	}
	for k, i := range same {
		for _, key := range tells {
			value, ok := all[k][key]
			if !ok {
				value = viz.Missing
			}
			gs[i].Label += " " + key + "=" + value
		}
		if len(tells) == 0 {
			gs[i].Label += ", run " + gs[i].Runs[0].ID
		}
	}
}

// Labelled are records under the labels of today, in their order. Equal labels at different budgets stay equal, as whatever lists records
// has a column for the budget.
func Labelled(rs []*results.Record) []*results.Record {
	budgets, at, out := map[string][]*results.Record{}, map[*results.Record]int{}, make([]*results.Record, len(rs))
	for i, r := range rs {
		at[r], budgets[r.Budget] = i, append(budgets[r.Budget], r)
	}
	for _, some := range budgets {
		gs := Groups(some)
		flat := results.Flat(gs)
		for _, g := range gs {
			for _, r := range g.Runs {
				out[at[r]], flat = flat[0], flat[1:]
			}
		}
	}
	return out
}

// Archive finds the complete runs of a store at one budget by the experiments that they are of. It implements paper.Source.
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

// Runs are the complete runs of what a trial trains today: exactly those with its experiments' IDs. What cannot be trained, as this
// program does not have it, has none.
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
