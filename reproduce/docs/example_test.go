// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"log"
	"os"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/records"
)

// The policy of a committed run acts in its task.
func Example() {
	dir, err := os.MkdirTemp("", "runs") // a folder of runs of your own: "runs"
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := results.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	store.Base(records.Layer()) // the committed runs below it

	policy, err := experiment.Load(store, "5ccede416bc96794", 1) // one environment
	if err != nil {
		log.Fatal(err)
	}
	env, err := policy.Env(7) // seed of the environment
	if err != nil {
		log.Fatal(err)
	}
	defer policy.Close()
	step, act := envs.NewStep(env.Spec()), envs.NewActions(env.Spec())
	for env.Reset(nil, step); step.Terminated[0]|step.Truncated[0] == 0; env.Step(act, step) {
		if err := policy.Act(step, act); err != nil { // fills act
			log.Fatal(err)
		}
	}
	fmt.Println(env.Spec().Name, "after", policy.Frames, "frames of training:", len(act.Continuous), "forces a step")
	// Output: vmas/balance after 120000 frames of training: 8 forces a step
}
