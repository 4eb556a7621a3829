// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Group is the runs of one experiment, which differ only in their seeds: one cell of a table, one line of a figure.
type Group struct {
	Label  string    // shown name
	Method string    // registered method of which the experiment is a variant; empty: only Label names it
	Runs   []*Record // in ascending order of seeds
}

// Check is an error if two runs have the same seed: their mean would count it twice.
func (g Group) Check() error {
	for i, r := range g.Runs[min(1, len(g.Runs)):] {
		if r.Seed == g.Runs[i].Seed {
			return fmt.Errorf("two runs of %s on %s have seed %d, %s and %s: a mean counts every seed once",
				g.Label, r.Task, r.Seed, g.Runs[i].ID, r.ID)
		}
	}
	return nil
}

// Scores returns the scores of the runs' last evaluations, one a seed, without runs that have no evaluation yet.
func (g Group) Scores() (out []float64, err error) {
	for _, r := range g.Runs {
		if len(r.Evals) > 0 {
			out = append(out, r.Score())
		}
	}
	return out, g.Check()
}

// Groups groups records by experiment, in the order in which the experiments first appear, under the label of their
// first record. If one run has several records, it keeps the last.
func Groups(rs []*Record) []Group {
	var out []Group
	at := map[string]int{}
	for _, r := range rs {
		key := r.identity()
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, Group{Label: r.Method})
		}
		g := &out[i]
		// All runs of another program may have one ID, so seeds count, too.
		g.Runs = slices.DeleteFunc(g.Runs, func(o *Record) bool {
			return r.ID != "" && o.ID == r.ID && o.Seed == r.Seed
		})
		g.Runs = append(g.Runs, r)
		slices.SortStableFunc(g.Runs, func(a, b *Record) int { return cmp.Compare(a.Seed, b.Seed) })
	}
	return out
}

// Flat returns copies of the runs of all groups, each under its group's label.
func Flat(gs []Group) (out []*Record) {
	for _, g := range gs {
		for _, r := range g.Runs {
			own := *r // the store's records are shared
			own.Method = g.Label
			out = append(out, &own)
		}
	}
	return out
}

// SameExperiment reports whether two runs differ only in their seeds.
func (r *Record) SameExperiment(o *Record) bool { return r.identity() == o.identity() }

// identity is the canonical JSON of an experiment without its seed. For a fork it also omits the ID of the parent,
// since the settings of both are there. Runs of other programs have only their names.
func (r *Record) identity() string {
	var e map[string]json.RawMessage
	if len(r.Experiment) == 0 || json.Unmarshal(r.Experiment, &e) != nil {
		return strings.Join([]string{r.Task, r.Budget, r.Method}, "\n")
	}
	delete(e, "seed")
	var forks []map[string]json.RawMessage
	if json.Unmarshal(e["forks"], &forks) == nil {
		for _, f := range forks {
			delete(f, "parent")
		}
		e["forks"], _ = json.Marshal(forks) // it was JSON
	}
	text, _ := json.Marshal(e) // sorted by key
	return r.Task + "\n" + string(text)
}
