// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
)

// BenchmarkStep times rules, tile numbers, vector observations and labels, with all players acting.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }

// BenchmarkStepAndPixels also renders every player's view.
func BenchmarkStepAndPixels(b *testing.B) {
	var rgb []uint8
	envtest.Bench(b, func(s *envs.Spec, out *envs.Step) {
		if n := 3 * envs.CellPixels * envs.CellPixels * len(out.Cells); len(rgb) < n {
			rgb = make([]uint8, n)
		}
		s.RGB(rgb[:3*envs.CellPixels*envs.CellPixels*len(out.Cells)], out.Cells)
	})
}
