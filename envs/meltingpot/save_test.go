// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A state with a changed byte is either rejected or playable, and never causes a panic.
func TestDamagedStatesAreRefusedOrPlayed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, cfg := range allTasks(t) {
		e, out, act := build(t, cfg, 2, 1)
		for range 30 {
			e.Script(act)
			e.Step(act, out)
		}
		good := e.Save(nil)
		refused := 0
		for range 200 {
			bad := slices.Clone(good)
			bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
			if err := e.Load(bad); err != nil {
				refused++
				continue
			}
			for range 5 {
				e.Script(act)
				e.Step(act, out)
			}
		}
		if refused == 0 {
			t.Errorf("%s: no damage was noticed", cfg.Kind())
		}
		if err := e.Load(good); err != nil {
			t.Errorf("%s: the intact state is rejected after damaged ones: %v", cfg.Kind(), err)
		}
	}
}
