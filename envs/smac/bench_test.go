// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/rng"
)

// BenchmarkStep reports frames per second (environment steps × copies) of whole steps with random allowed actions, resets
// of finished copies included: eight game loops, rewards, observations, states, masks, labels.
func BenchmarkStep(b *testing.B) {
	for _, name := range envs.Names() {
		for _, copies := range []int{60, 1024} {
			for _, workers := range []int{1, 2} {
				label := fmt.Sprintf("%s/copies=%d/workers=%d", strings.TrimPrefix(name, "smac/"), copies, workers)
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
	env, err := cfg.WithShared(envs.Common{Copies: copies, Reward: envs.Sparse}).Build(1, workers)
	if err != nil {
		b.Fatal(err)
	}
	s := env.Spec()
	out, act, r := envs.NewStep(s), envs.NewActions(s), rng.New(1, "bench")
	done := make([]uint8, copies)
	env.Reset(nil, out)
	b.ReportAllocs()
	for b.Loop() {
		pick(act.Choice, out.Mask, s.Act.Choices, r)
		env.Step(act, out)
		for c := range done {
			done[c] = out.Terminated[c] | out.Truncated[c]
		}
		env.Reset(done, out)
	}
	b.ReportMetric(float64(copies)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// pick draws allowed actions: from a random place on, the first one that the mask has.
func pick(choice []int32, mask []uint8, k int, r *rng.Rand) {
	for row := range choice {
		a := r.IntN(k)
		for mask[row*k+a] == 0 {
			a = (a + 1) % k
		}
		choice[row] = int32(a)
	}
}
