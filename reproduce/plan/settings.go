// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"cermic/envs/conf"
	"cermic/viz"
)

// Setting is one setting of an experiment and what it is by default.
type Setting struct {
	conf.KeyDoc
	Default string // its value without the changes; viz.Missing where another part was there
	Changed bool
}

// SettingsOf lists what -set can change of the experiment that q asks for, changes of q among them.
func SettingsOf(q Request) ([]Setting, error) {
	e, err := New(q)
	if err != nil {
		return nil, err
	}
	changes := q.Set
	q.Set = nil
	usual, err := New(q)
	if err != nil {
		return nil, err
	}
	before := conf.Keys(usual)
	var out []Setting
	for _, k := range conf.Keys(e) {
		if k.Key == "task" || k.Key == "seed" || k.Key == "budget.name" || k.Key == "forks" {
			continue // -task, -seeds, -budget and -fork
		}
		was, known := FindKey(before, k.Key)
		if !known {
			was = viz.Missing
		}
		set := slices.ContainsFunc(changes, func(c string) bool { return strings.HasPrefix(c, k.Key+"=") })
		out = append(out, Setting{k, was, k.Value != was && (known || set)})
	}
	return out, nil
}

// Settings is a table, to be searched in a notebook, of every setting of a method with its default at budget "paper" on Balance, of what
// each is and of its bounds. Settings that the given changes, as for -set, move away from their defaults stand first and out:
//
//	nb.Show(plan.Settings("mappo-cermic", "explore.alpha=0.5"))
func Settings(method string, changes ...string) (viz.Table, error) {
	return SettingsTable(Request{Task: "balance", Method: method, Budget: "paper", Set: changes})
}

// SettingsTable is Settings on any task, at any budget.
func SettingsTable(q Request) (viz.Table, error) {
	all, err := SettingsOf(q)
	if err != nil {
		return viz.Table{}, err
	}
	slices.SortStableFunc(all, func(a, b Setting) int { // changed ones first
		switch {
		case a.Changed == b.Changed:
			return 0
		case a.Changed:
			return -1
		}
		return 1
	})
	out := viz.Table{Title: q.Method + " on " + q.Task + ", budget " + q.Budget, Header: []string{"setting", "value", "default", "what it is"}, Search: true}
	for i, s := range all {
		if s.Changed {
			out.Marked = append(out.Marked, i)
		}
		was := s.Default
		if !s.Changed {
			was = ""
		}
		out.Rows = append(out.Rows, []string{s.Key, s.Value, was, s.Sentence()})
	}
	return out, nil
}
