// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"cermic/cermiclib/experiment"
	"cermic/reproduce/paper"
)

// Benchmark lists the experiments that a table of the paper asks for, each once, with seeds 1 to seeds; trials of several
// cells are the same. The trials that this program cannot run yet are returned as the errors that say why, one for each
// task or method that is missing.
func Benchmark(t *paper.Benchmark, budget string, seeds int) (es []experiment.Config, missing []error) {
	seen, said := map[string]bool{}, map[string]bool{}
	for _, row := range t.Rows {
		for _, cell := range slices.Concat(row.Cells, row.Theorems()) {
			for _, trial := range cell.Trials() {
				e, err := New(Request{Task: trial.Task, Method: trial.Method, Budget: budget, Set: trial.Set})
				for seed := 1; seed <= seeds; seed++ {
					if e.Seed = uint64(seed); err == nil {
						var id string
						if id, err = e.ID(); err == nil && !seen[id] {
							seen[id] = true
							es = append(es, e)
						}
					}
					if err != nil && !said[err.Error()] {
						said[err.Error()] = true
						missing = append(missing, err)
					}
				}
			}
		}
	}
	return es, missing
}
