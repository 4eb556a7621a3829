// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"testing"

	"cermic/envs"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
)

// paperSpec has the paper's 60 environments and the sizes of a VMAS task with four agents.
func paperSpec() *envs.Spec {
	spec := fakeSpec(60)
	spec.Agents, spec.Obs = 4, []int{18}
	return spec
}

// BenchmarkReward scores the paper's rollout batch of 36,000 frames, 144,000 agent steps.
func BenchmarkReward(b *testing.B) {
	spec := paperSpec()
	m := benchModule(b, spec, memory.DefaultMLP())
	x := fakeRollout(spec, 600, 0)
	for b.Loop() {
		clear(x.Intrinsic)
		if _, err := m.Reward(b.Context(), x); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate trains on the same rollout batch.
func BenchmarkUpdate(b *testing.B) { benchUpdate(b, paperSpec(), memory.DefaultMLP(), 600) }

// BenchmarkCells trains on black images of the sizes of two Melting Pot tasks.
func BenchmarkCells(b *testing.B) {
	for _, s := range []*envs.Spec{
		{Name: "stag_hunt", Agents: 2, Obs: []int{5, 5}, Scalars: 8, Pixels: make([]uint8, 113*192)},
		{Name: "clean_up", Agents: 7, Obs: []int{11, 11}, Scalars: 3, Pixels: make([]uint8, 6065*192)},
	} {
		s.NumEnvs, s.Act.Choices = 60, 9
		for _, mem := range []memory.Config{memory.DefaultMLP(), memory.DefaultGraph()} {
			b.Run(s.Name+"-"+mem.Kind(), func(b *testing.B) { benchUpdate(b, s, mem, 40/s.Agents) })
		}
	}
}

// BenchmarkFeed is the host's part of a gradient step: gathering and noise.
func BenchmarkFeed(b *testing.B) {
	spec := paperSpec()
	m := benchModule(b, spec, memory.DefaultMLP())
	x := fakeRollout(spec, 600, 0)
	rows, weight := m.sampler.draw(x, 0.25, m.minibatch, m.stream("bench", 0, 0))
	step := 0
	for b.Loop() {
		m.feed(x, rows[:m.minibatch], weight[:m.minibatch], step)
		step++
	}
}

// benchUpdate trains on a rollout of the given number of time steps; ms/step is the time of a whole gradient step.
func benchUpdate(b *testing.B, spec *envs.Spec, mem memory.Config, length int) {
	m := benchModule(b, spec, mem)
	x, steps := fakeRollout(spec, length, 0), 0.0
	x.KeepLabels()
	for b.Loop() {
		s, err := m.Update(b.Context(), x)
		if err != nil {
			b.Fatal(err)
		}
		steps += s["cermic/steps"]
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/steps, "ms/step")
}

func benchModule(b *testing.B, spec *envs.Spec, mem memory.Config) *module {
	b.Helper()
	backend, err := nn.Open()
	if err != nil {
		b.Fatal(err)
	}
	c := Default()
	c.Memory = mem
	m, err := c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	return m.(*module)
}
