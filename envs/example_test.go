// SPDX-License-Identifier: Apache-2.0

package envs_test

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/envtest/must"
	_ "cermic/envs/explore" // registers its tasks
)

// A task is built by name, and all its environments step together. In this one-step game, both agents must choose
// action 0.
func Example() {
	task := must.Value(envs.Default("explore/climbing"))
	env := must.Value(task.WithShared(envs.Common{NumEnvs: 2, Reward: envs.Dense}).Build(1, 1))
	step, act := envs.NewStep(env.Spec()), envs.NewActions(env.Spec())
	env.Reset(nil, step)
	copy(act.Discrete, []int32{0, 0, 0, 1}) // agents 0 and 1 of environment 0, then of environment 1
	env.Step(act, step)
	for c, score := range step.Score {
		fmt.Println("environment", c, "scores", score, "and is over:", step.Terminated[c]|step.Truncated[c] == 1)
	}
	// Output:
	// environment 0 scores 11 and is over: true
	// environment 1 scores -30 and is over: true
}
