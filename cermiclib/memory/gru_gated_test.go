// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
)

// TestGatedGRUMovesOnlyWhereSomeoneIsSeen sets the detector to see either nobody or everybody.
func TestGatedGRUMovesOnlyWhereSomeoneIsSeen(t *testing.T) {
	spec := twoByTwo()
	x := wander(spec, 4, 1, 0, 1, 2*2) // environment 0 starts anew at step 2
	x.KeepLabels()
	x.Alive[3*4+3] = 0 // agent 1 of environment 1 is dead at the end
	for _, c := range []struct {
		bias   float32
		moves  []uint8 // of agent 0 of environment 0, step by step
		exists []uint8
		dead   uint8 // whether the dead agent's state moves
	}{
		{-100, []uint8{1, 0, 1, 0}, []uint8{0, 0, 0, 0}, 0},
		{100, []uint8{1, 1, 1, 1}, []uint8{0, 1, 0, 1}, 0},
	} {
		config := smallGRU(2)
		config.Gated = true
		m, _, store := probe(t, config, spec, 16)
		tensors.MustMutableFlatData(store.GetVariable("/memory/detector/out/bias").MustValue(), func(flat []float32) {
			for i := range flat {
				flat[i] = c.bias
			}
		})
		watch(t, m, x)
		g := m.(*gru).gates
		var moves, met []uint8
		for step := range 4 {
			moves, met = append(moves, g.open[step*4]), append(met, g.exists[step*4])
		}
		if !slices.Equal(moves, c.moves) || !slices.Equal(met, c.exists) || g.open[3*4+3] != c.dead {
			t.Errorf("bias %g: the state moves at %v and has one before at %v, the dead agent's moves: %d; want %v, %v, %d",
				c.bias, moves, met, g.open[3*4+3], c.moves, c.exists, c.dead)
		}
	}
}

// TestGatedGRUThatSeesEverybodyIsTheGRU compares both memories on equal weights.
func TestGatedGRUThatSeesEverybodyIsTheGRU(t *testing.T) {
	spec := twoByTwo()
	x := wander(spec, 4, 1, 0, 1, 2*2)
	x.KeepLabels()
	var now, before [2][]float32
	for i, gated := range []bool{false, true} {
		config := smallGRU(2)
		config.Gated = gated
		m, p, store := probe(t, config, spec, 16)
		if gated {
			tensors.MustMutableFlatData(store.GetVariable("/memory/detector/out/bias").MustValue(), func(flat []float32) {
				for k := range flat {
					flat[k] = 100
				}
			})
		}
		watch(t, m, x)
		n, b, exists := features(t, m, p, x, chunked(x, 2))
		now[i] = slices.Clone(n)
		for k, e := range exists { // f_{n-1} is any number where there is none
			if e != 0 {
				before[i] = append(before[i], b[k*6:(k+1)*6]...)
			}
		}
	}
	for name, pair := range map[string][2][]float32{"f_n": now, "f_{n-1}": before} {
		if len(pair[0]) == 0 || len(pair[0]) != len(pair[1]) {
			t.Fatalf("%s has %d numbers ungated and %d gated", name, len(pair[0]), len(pair[1]))
		}
		for k, want := range pair[0] {
			if d := pair[1][k] - want; d > 2e-5 || d < -2e-5 { // rounding, as between chunk lengths
				t.Fatalf("component %d of %s is %g gated and %g ungated", k, name, pair[1][k], want)
			}
		}
	}
}
