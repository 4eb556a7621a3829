// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"testing"

	"cermic/envs"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
)

// BenchmarkCells trains on pictures of the sizes of two Melting Pot tasks, all of them black; ms/step is the time of a gradient step,
// everything included.
func BenchmarkCells(b *testing.B) {
	for name, s := range map[string]*envs.Spec{
		"stag_hunt": {NumEnvs: 60, Agents: 2, Obs: []int{5, 5}, Scalars: 8, Pixels: make([]uint8, 113*192), Act: envs.ActSpec{Choices: 8}},
		"clean_up":  {NumEnvs: 60, Agents: 7, Obs: []int{11, 11}, Scalars: 3, Pixels: make([]uint8, 6065*192), Act: envs.ActSpec{Choices: 9}},
	} {
		s.Name = name
		for _, mem := range []memory.Config{memory.DefaultMLP(), memory.DefaultGraph()} {
			b.Run(name+"-"+mem.Kind(), func(b *testing.B) { benchmarkCells(b, s, mem) })
		}
	}
}

func benchmarkCells(b *testing.B, s *envs.Spec, mem memory.Config) {
	backend, err := nn.Open()
	if err != nil {
		b.Fatal(err)
	}
	c := Default()
	c.Memory = mem
	built, err := c.Build(&nn.Build{Spec: s, Backend: backend, Store: nn.NewStore(1), Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	x, steps := fakeRollout(s, 40/s.Agents, 0), 0.0
	x.KeepLabels()
	for b.Loop() {
		out, err := built.Update(b.Context(), x)
		if err != nil {
			b.Fatal(err)
		}
		steps += out["cermic/steps"]
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/steps, "ms/step")
	b.ReportMetric(steps, "steps")
}
