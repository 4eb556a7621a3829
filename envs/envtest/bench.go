// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"path"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Bench reports frames per second (steps × environments) of every registered task, with 60 and 1024 environments on
// one and two cores. A step includes random allowed actions and resets of finished environments. If also is not nil,
// it is called after each step.
func Bench(b *testing.B, also func(*envs.Spec, *envs.Step)) {
	for _, name := range envs.Names() {
		cfg := must.Value(envs.Default(name))
		for _, numEnvs := range []int{60, 1024} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/copies=%d/workers=%d", path.Base(name), numEnvs, workers), func(b *testing.B) {
					bench(b, cfg.WithShared(envs.Common{NumEnvs: numEnvs, Reward: envs.Dense}), workers, also)
				})
			}
		}
	}
}

func bench(b *testing.B, cfg envs.Config, workers int, also func(*envs.Spec, *envs.Step)) {
	p := newPlayer(must.Value(cfg.Build(1, workers)))
	drawn, r, done := make([]envs.Actions, 8), rng.New(1, "bench"), make([]uint8, p.spec.NumEnvs)
	for i := range drawn {
		a := envs.NewActions(p.spec)
		for k := range a.Continuous {
			a.Continuous[k] = r.Uniform(p.spec.Act.Low[k%p.spec.Act.Dim], p.spec.Act.High[k%p.spec.Act.Dim])
		}
		for k := range a.Discrete {
			a.Discrete[k] = int32(r.IntN(p.spec.Act.Choices))
		}
		drawn[i] = *a
	}
	p.reset()
	b.ReportAllocs()
	for step := 0; b.Loop(); step++ {
		copy(p.act.Continuous, drawn[step%len(drawn)].Continuous)
		for row, k := range drawn[step%len(drawn)].Discrete {
			p.act.Discrete[row] = p.allowed(row, int(k))
		}
		p.env.Step(p.act, p.out)
		if also != nil {
			also(p.spec, p.out)
		}
		for c := range done {
			done[c] = p.out.Terminated[c] | p.out.Truncated[c]
		}
		p.env.Reset(done, p.out)
	}
	b.ReportMetric(float64(p.spec.NumEnvs)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}
