// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"fmt"
	"log"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
)

// The program of reproduce/docs/README.md, which shows these lines; it is compiled and not run.
func Example() {
	e, err := plan.New(plan.Request{Task: "balance", Method: "mappo-cermic", Budget: "smoke", Set: []string{"explore.alpha=0.5"}, Seed: 1})
	if err != nil {
		log.Fatal(err) // one sentence that names the setting
	}
	store, err := results.Open("runs")
	if err != nil {
		log.Fatal(err)
	}
	record, err := experiment.Run(context.Background(), e, store)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Method, "after", record.Frames, "frames:", record.Score())
}
