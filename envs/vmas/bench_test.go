// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/rng"
)

// BenchmarkStep reports frames per second (environment steps × copies) of whole steps with random actions, resets of
// finished copies included: physics, rewards, observations, labels.
func BenchmarkStep(b *testing.B) {
	for _, name := range envs.Names() {
		for _, copies := range []int{60, 1024} {
			for _, workers := range []int{1, 2} {
				label := fmt.Sprintf("%s/copies=%d/workers=%d", strings.TrimPrefix(name, "vmas/"), copies, workers)
				b.Run(label, func(b *testing.B) { benchmarkStep(b, name, copies, workers) })
			}
		}
	}
}

func benchmarkStep(b *testing.B, name string, copies, workers int) {
	cfg, err := envs.Default(name)
	if err != nil {
		b.Fatal(err)
	}
	env, err := cfg.WithShared(envs.Common{Copies: copies, Reward: envs.Dense}).Build(1, workers)
	if err != nil {
		b.Fatal(err)
	}
	out, acts, r := envs.NewStep(env.Spec()), make([]*envs.Actions, 8), rng.New(1, "bench")
	for i := range acts {
		acts[i] = envs.NewActions(env.Spec())
		for k := range acts[i].Force {
			acts[i].Force[k] = r.Uniform(-1, 1)
		}
	}
	done := make([]uint8, copies)
	env.Reset(nil, out)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		env.Step(acts[i%len(acts)], out)
		for c := range done {
			done[c] = out.Terminated[c] | out.Truncated[c]
		}
		env.Reset(done, out)
		i++
	}
	b.ReportMetric(float64(copies)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}
