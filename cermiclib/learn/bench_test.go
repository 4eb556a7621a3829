// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/envs"
	"cermic/envs/rng"
)

// BenchmarkQStep times one gradient step of value learners, 1,024 frames, at the sizes of vmas/balance: 4 agents, 16 observed
// numbers, 9 choices. GOMLX_BACKEND chooses the backend.
func BenchmarkQStep(b *testing.B) {
	spectra := DefaultQ()
	spectra.Mixer = DefaultSPECTra()
	for _, c := range []struct {
		Q
		policy policy.Config
	}{{DefaultQ(), policy.DefaultMLP()}, {DefaultQ().WithQPLEX(), policy.DefaultMLP()}, {spectra, policy.DefaultSPECTra()}, {DefaultQ(), policy.DefaultGRU()}} {
		b.Run(c.Label()+"-"+c.policy.Kind(), func(b *testing.B) { benchmarkStep(b, c.Q, c.policy) })
	}
}

func benchmarkStep(b *testing.B, c Q, p policy.Config) {
	backend, err := nn.Open()
	if err != nil {
		b.Fatal(err)
	}
	spec := &envs.Spec{Name: "fake", NumEnvs: 2, Agents: 4, Obs: []int{16}, State: 64, Act: envs.ActSpec{Choices: 9}}
	c.Frames, c.Replay = 100_000, 100_000
	built, err := c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1}, p)
	if err != nil {
		b.Fatal(err)
	}
	l := built.(*q)
	if err := l.replay.Add(withCarry(randomRollout(spec, 50_000), l.HiddenLen())); err != nil {
		b.Fatal(err)
	}
	minibatches := func(yield func(error) bool) {
		for step := uint64(0); b.Loop(); step++ {
			l.replay.Sample(l.slots, rng.New(1, "replay", 0, step))
			if !yield(l.feed(b.Context(), 1)) {
				return
			}
		}
	}
	if _, _, err := l.update.Means(b.Context(), qScalars, minibatches); err != nil {
		b.Fatal(err)
	}
}
