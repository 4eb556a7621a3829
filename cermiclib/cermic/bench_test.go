// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"testing"

	"cermic/envs"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
)

// paperSpec has the paper's 60 environments, and the sizes of a VMAS task with four agents.
func paperSpec() *envs.Spec {
	spec := fakeSpec(60)
	spec.Agents, spec.Obs = 4, []int{18}
	return spec
}

// BenchmarkReward scores the paper's rollout batch of 36,000 frames, 144,000 agent steps.
func BenchmarkReward(b *testing.B) {
	m, spec := benchModule(b)
	x := fakeRollout(spec, 600, 0)
	for b.Loop() {
		clear(x.Intrinsic)
		if _, err := m.Reward(b.Context(), x); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate trains on the same rollout batch; ms/step is the time of a gradient step, everything included.
func BenchmarkUpdate(b *testing.B) {
	m, spec := benchModule(b)
	x := fakeRollout(spec, 600, 0)
	steps := 0.0
	for b.Loop() {
		s, err := m.Update(b.Context(), x)
		if err != nil {
			b.Fatal(err)
		}
		steps += s["cermic/steps"]
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/steps, "ms/step")
}

// BenchmarkFeed is the part of a gradient step that the host does: gathering and noise.
func BenchmarkFeed(b *testing.B) {
	m, spec := benchModule(b)
	x := fakeRollout(spec, 600, 0)
	rows, weight := m.sampler.draw(x, 0.25, m.minibatch, m.stream("bench", 0, 0))
	step := 0
	for b.Loop() {
		m.feed(x, rows[:m.minibatch], weight[:m.minibatch], step)
		step++
	}
}

func benchModule(b *testing.B) (*module, *envs.Spec) {
	b.Helper()
	backend, err := nn.Open()
	if err != nil {
		b.Fatal(err)
	}
	spec := paperSpec()
	c := Default()
	c.Memory = memory.DefaultMLP()
	m, err := c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	return m.(*module), spec
}
