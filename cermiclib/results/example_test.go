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
	for _, g := range results.Groups([]*results.Record{
		{ID: "a", Task: "vmas/balance", Method: "mappo", Seed: 1, Evals: []results.Eval{{Frames: 6000, Scores: []float64{40, 60}}}},
		{ID: "b", Task: "vmas/balance", Method: "mappo", Seed: 2, Evals: []results.Eval{{Frames: 6000, Scores: []float64{70, 70}}}},
	}) {
		for _, r := range g.Runs {
			fmt.Println(g.Label, "seed", r.Seed, "scores", r.Score())
		}
	}
	// Output:
	// 0 runs in an empty store
	// mappo seed 1 scores 50
	// mappo seed 2 scores 70
}
