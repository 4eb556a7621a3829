// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"io/fs"
	"slices"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
)

// Grid lists the experiments of every method on every task, with seeds 1 to seeds and the same changed settings.
// Duplicates are left out.
func Grid(tasks, methods []string, budget string, seeds int, set ...string) ([]experiment.Config, error) {
	var es []experiment.Config
	for _, task := range tasks {
		for _, method := range methods {
			e, err := New(Request{Task: task, Method: method, Budget: budget, Set: set})
			if err != nil {
				return nil, err
			}
			for range seeds {
				e.Seed++
				es = append(es, e)
			}
		}
	}
	return Unique(es)
}

// Arm is one side of a comparison: the experiments of one label.
type Arm struct {
	Label       string
	Experiments []experiment.Config // one a seed
}

// Complete returns the arm's complete runs in st, under its label.
func (a Arm) Complete(st *results.Store) (results.Group, error) {
	g := results.Group{Label: a.Label}
	for _, e := range a.Experiments {
		id, err := e.ID()
		if err != nil {
			return g, err
		}
		if head, err := st.Head(id); err != nil || !head.Complete {
			continue
		}
		switch r, err := st.Get(id); {
		case err == nil:
			g.Runs = append(g.Runs, r)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, results.ErrDamaged):
			return g, err
		}
	}
	return g, g.Check()
}

// Unique leaves out experiments with the ID of an earlier one.
func Unique(es []experiment.Config) (out []experiment.Config, err error) {
	seen := map[string]bool{}
	for _, e := range es {
		id, err := e.ID()
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id], out = true, append(out, e)
		}
	}
	return out, nil
}

// Benchmark lists the experiments of a table of the paper, as Benchmarks does.
func Benchmark(t *paper.Benchmark, budget string, seeds int) (es []experiment.Config, missing []error) {
	return Benchmarks([]*paper.Benchmark{t}, budget, seeds)
}

// Benchmarks lists the experiments of tables of the paper, each once. Seed 1 comes first, in the order of the tables,
// then seed 2, and so on. missing has an error for each task or method that this program does not have.
func Benchmarks(tables []*paper.Benchmark, budget string, seeds int) (es []experiment.Config, missing []error) {
	said := map[string]bool{}
	var first []experiment.Config
	for _, t := range tables {
		for _, row := range t.Rows {
			for _, cell := range slices.Concat(row.Cells, row.Theorems()) {
				for _, trial := range cell.Trials() {
					e, err := New(Request{Task: trial.Task, Method: trial.Method, Budget: budget, Set: trial.Set, Seed: 1})
					switch {
					case err == nil:
						first = append(first, e)
					case !said[err.Error()]:
						said[err.Error()] = true
						missing = append(missing, err)
					}
				}
			}
		}
	}
	first, err := Unique(first)
	if err != nil {
		return nil, append(missing, err)
	}
	for seed := range seeds {
		for _, e := range first {
			e.Seed = uint64(seed + 1)
			es = append(es, e)
		}
	}
	return es, missing
}
