// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

func TestTasksKeepTheContract(t *testing.T) {
	for _, name := range envs.Names() {
		cfg := must.Value(envs.Default(name))
		t.Run(strings.TrimPrefix(name, "vmas/"), func(t *testing.T) { envtest.Check(t, cfg) })
	}
}

func TestDiscreteTasksKeepTheContract(t *testing.T) {
	for _, name := range envs.Names() {
		cfg := must.Value(envs.Default(name))
		for _, set := range []Discrete{Product9, Cross5} {
			label := strings.TrimPrefix(name, "vmas/") + "/" + string(set)
			t.Run(label, func(t *testing.T) {
				envtest.Check(t, cfg.(envs.Discretiser).WithDiscrete(set))
			})
		}
	}
}

// BenchmarkStep times physics, rewards, observations and labels.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }
