// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"fmt"
	"os"

	"cermic/cermiclib/results"
)

// What a store holds is asked for by task, method, budget and seed; seeds of one experiment are a group.
func Example() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := results.Open(dir)
	if err != nil {
		panic(err)
	}
	found, err := store.Find(results.Query{Task: "vmas/balance", Complete: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(found), "runs in an empty store")
	run := func(id string, seed uint64, scores ...float64) *results.Record {
		return &results.Record{ID: id, Task: "vmas/balance", Method: "mappo", Seed: seed, Evals: []results.Eval{{Scores: scores}}}
	}
	for _, g := range results.Groups([]*results.Record{run("a", 1, 40, 60), run("b", 2, 70, 70)}) {
		for _, r := range g.Runs {
			fmt.Println(g.Label, "seed", r.Seed, "scores", r.Score())
		}
	}
	// Output:
	// 0 runs in an empty store
	// mappo seed 1 scores 50
	// mappo seed 2 scores 70
}
