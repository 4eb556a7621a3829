// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"cermic/cermiclib/experiment"
	"cermic/reproduce/paper"
)

// Benchmark lists the experiments of a table of the paper, as Benchmarks does.
func Benchmark(t *paper.Benchmark, budget string, seeds int) (es []experiment.Config, missing []error) {
	return Benchmarks([]*paper.Benchmark{t}, budget, seeds)
}

// Benchmarks lists the experiments of tables of the paper, each once: those with seed 1 in the order of the tables,
// then those with seed 2, and so on. Missing has an error for each task or method that this program does not have.
func Benchmarks(tables []*paper.Benchmark, budget string, seeds int) (es []experiment.Config, missing []error) {
	seen, said := map[string]bool{}, map[string]bool{}
	var first []experiment.Config
	for _, t := range tables {
		for _, row := range t.Rows {
			for _, cell := range slices.Concat(row.Cells, row.Theorems()) {
				for _, trial := range cell.Trials() {
					e, err := New(Request{Task: trial.Task, Method: trial.Method, Budget: budget, Set: trial.Set, Seed: 1})
					id := ""
					if err == nil {
						id, err = e.ID()
					}
					switch {
					case err != nil && !said[err.Error()]:
						said[err.Error()] = true
						missing = append(missing, err)
					case err == nil && !seen[id]:
						seen[id] = true
						first = append(first, e)
					}
				}
			}
		}
	}
	for seed := 1; seed <= seeds; seed++ {
		for _, e := range first {
			e.Seed = uint64(seed)
			es = append(es, e)
		}
	}
	return es, missing
}
