// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/envs"
	"cermic/envs/rng"
)

// cellSpecs have the sizes of two Melting Pot tasks; what the cells show is noise.
func cellSpecs() map[string]*envs.Spec {
	specs := map[string]*envs.Spec{
		"stag_hunt": {NumEnvs: 60, Agents: 2, Obs: []int{5, 5}, Scalars: 8, Act: envs.ActSpec{Choices: 8}},
		"clean_up":  {NumEnvs: 60, Agents: 7, Obs: []int{11, 11}, Scalars: 3, Act: envs.ActSpec{Choices: 9}},
	}
	kinds := map[string]int{"stag_hunt": 113, "clean_up": 6065}
	for name, s := range specs {
		s.Name, s.Pixels, s.State = name, make([]uint8, kinds[name]*192), s.Agents*s.Scalars
		for i, r := 0, rng.New(1, "pictures"); i < len(s.Pixels); i++ {
			s.Pixels[i] = uint8(r.IntN(256))
		}
	}
	return specs
}

// BenchmarkCells times acting of 60 environments and one minibatch of MAPPO, 240 frames. GOMLX_BACKEND chooses the backend.
func BenchmarkCells(b *testing.B) {
	for name, s := range cellSpecs() {
		backend, err := nn.Open()
		if err != nil {
			b.Fatal(err)
		}
		backend.Updates = 0 // one update is timed
		c := DefaultMAPPO()
		c.Frames, c.Epochs, c.Minibatch = 240, 1, 240
		built, err := c.Build(&nn.Build{Spec: s, Backend: backend, Store: nn.NewStore(1), Seed: 1}, policy.DefaultMLP())
		if err != nil {
			b.Fatal(err)
		}
		m, x := built.(*mappo), randomRollout(s, 4)
		for i, r := 0, rng.New(1, "cells"); i < len(x.Cells); i++ {
			x.Cells[i] = uint16(r.IntN(len(s.Pixels) / 192))
		}
		m.unfold(m.order, x)
		m.feed(m.update, x, 0)
		b.Run(name+"-update", func(b *testing.B) { run(b, m.update.Program) })
		b.Run(name+"-act", func(b *testing.B) { run(b, m.actor.forward) })
	}
}

// run times one graph, without feeding it.
func run(b *testing.B, p *nn.Program) {
	for b.Loop() {
		if err := p.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
