// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
)

// BenchmarkStep times rules, cells, numbers and labels, all players acting.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }

// BenchmarkStepAndPixels is the same with every player's view painted in full.
func BenchmarkStepAndPixels(b *testing.B) {
	var rgb []uint8
	envtest.Bench(b, func(s *envs.Spec, out *envs.Step) {
		if n := 3 * envs.CellPixels * envs.CellPixels * len(out.Cells); len(rgb) < n {
			rgb = make([]uint8, n)
		}
		s.RGB(rgb[:3*envs.CellPixels*envs.CellPixels*len(out.Cells)], out.Cells)
	})
}
