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
		cfg := must.Value(envs.Default(name)).(envs.Discretiser)
		for _, set := range []Discrete{Continuous, Product9, Cross5} {
			label := strings.TrimPrefix(name, "vmas/") + "/" + string(set)
			t.Run(label, func(t *testing.T) { envtest.Check(t, cfg.WithDiscrete(set)) })
		}
	}
}

// BenchmarkStep times physics, rewards, observations and labels.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }
