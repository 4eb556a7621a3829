// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"fmt"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/rng"
)

// BenchmarkStep reports environment steps (of one copy with all its players) per second, with random actions of everyone and
// resets of finished copies: rules, cells, numbers, labels.
func BenchmarkStep(b *testing.B) { benchmark(b, false) }

// BenchmarkStepAndPixels is the same with every player's view painted in full.
func BenchmarkStepAndPixels(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, pixels bool) {
	for _, cfg := range allTasks(b) {
		for _, copies := range []int{60, 1024} {
			for _, workers := range []int{1, 2} {
				label := fmt.Sprintf("%s/copies=%d/workers=%d", strings.TrimPrefix(cfg.Kind(), "meltingpot/"), copies, workers)
				b.Run(label, func(b *testing.B) { benchmarkStep(b, cfg, copies, workers, pixels) })
			}
		}
	}
}

func benchmarkStep(b *testing.B, cfg envs.Config, copies, workers int, pixels bool) {
	e, out, _ := build(b, cfg, copies, workers)
	acts, r := make([]*envs.Actions, 8), rng.New(1, "bench")
	for i := range acts {
		acts[i] = envs.NewActions(e.Spec())
		for k := range acts[i].Choice {
			acts[i].Choice[k] = int32(r.IntN(e.spec.Act.Choices))
		}
	}
	done := make([]uint8, copies)
	var rgb []uint8
	if pixels {
		rgb = make([]uint8, len(out.Cells)*192)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		e.Step(acts[i%len(acts)], out)
		if pixels {
			e.spec.RGB(rgb, out.Cells)
		}
		for c := range done {
			done[c] = out.Terminated[c] | out.Truncated[c]
		}
		e.Reset(done, out)
		i++
	}
	b.ReportMetric(float64(copies)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
