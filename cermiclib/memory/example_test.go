// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"fmt"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest"
)

// A memory says how wide its context is, and in how many successive steps of an agent it is trained.
func Example() {
	task := &envs.Spec{NumEnvs: 2, Agents: 3, Obs: []int{18}}
	for _, kind := range []string{"mlp", "gru"} {
		c := envtest.Must(conf.New[memory.Config](kind))
		m := envtest.Must(c.Build(&nn.Build{Spec: task}))
		fmt.Println(kind, "has", m.Shape().Width, "numbers, trained on", m.Shape().Chunk, "steps")
	}
	// Output:
	// mlp has 256 numbers, trained on 1 steps
	// gru has 256 numbers, trained on 20 steps
}
