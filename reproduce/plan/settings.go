// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"cermic/envs/conf"
	"cermic/viz"
)

// Setting is one setting of an experiment with its default.
type Setting struct {
	conf.KeyDoc
	Default string // value without the changes; viz.Missing if the default part lacks it
	Changed bool
}

// SettingsOf lists the settings that -set can change in the experiment that q asks for.
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
	before := conf.ByKey(usual)
	var out []Setting
	for _, k := range conf.Keys(e) {
		if k.Key == "task" || k.Key == "seed" || k.Key == "budget.name" || k.Key == "forks" {
			continue // -task, -seeds, -budget and -fork
		}
		was, known := before[k.Key]
		if !known {
			was = viz.Missing
		}
		set := slices.ContainsFunc(changes, func(c string) bool { return strings.HasPrefix(c, k.Key+"=") })
		out = append(out, Setting{k, was, k.Value != was && (known || set)})
	}
	return out, nil
}

// Settings returns a searchable table of every setting of a method on Balance at budget "paper", with descriptions and
// bounds. Settings that the given changes move away from their defaults come first and are marked:
//
//	nb.Show(plan.Settings("mappo-cermic", "explore.alpha=0.5"))
func Settings(method string, changes ...string) (viz.Table, error) {
	q := Request{Task: "balance", Method: method, Budget: "paper", Set: changes}
	all, err := SettingsOf(q)
	if err != nil {
		return viz.Table{}, err
	}
	out := viz.Table{
		Title:  q.Method + " on " + q.Task + ", budget " + q.Budget,
		Header: []string{"setting", "value", "default", "what it is"}, Search: true,
	}
	var unchanged [][]string
	for _, s := range all {
		if s.Changed {
			out.Marked = append(out.Marked, len(out.Rows))
			out.Rows = append(out.Rows, []string{s.Key, s.Value, s.Default, s.Sentence()})
		} else {
			unchanged = append(unchanged, []string{s.Key, s.Value, "", s.Sentence()})
		}
	}
	out.Rows = append(out.Rows, unchanged...)
	return out, nil
}
