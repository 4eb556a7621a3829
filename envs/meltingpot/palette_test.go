// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"hash/fnv"
	"os"
	"reflect"
	"testing"

	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

// The embedded sprites equal the recorded ones.
func TestSpritesAreTheRecordedOnes(t *testing.T) {
	raw := must.Value(os.ReadFile(envtest.Statistics(t, "meltingpot", "sprites.json.gz")[0]))
	want := must.Value(readSprites(raw))
	for name, recorded := range want.Substrates {
		if !reflect.DeepEqual(sprites().Substrates[name], recorded) {
			t.Errorf("the sprites of %s differ from the recorded ones", name)
		}
	}
	if len(want.Substrates) == 0 {
		t.Error("no sprites are recorded")
	}
}

// Weights of networks that read tile numbers stay valid only if the numbers never change. The hashes were computed by
// this test; new hashes mean that such weights must be trained again.
func TestCellNumbersNeverChange(t *testing.T) {
	for _, cfg := range allTasks(t) {
		e, _, _ := build(t, cfg, 1, 1)
		h := fnv.New64a()
		h.Write(e.spec.Pixels)
		want := map[string]struct {
			pictures int
			hash     uint64
		}{
			"meltingpot/chicken_in_the_matrix__repeated":           {113, 0xe52d791835e7bdd1},
			"meltingpot/clean_up":                                  {6065, 0x5d8cc54ce06853a2},
			"meltingpot/prisoners_dilemma_in_the_matrix__repeated": {113, 0xe52d791835e7bdd1},
			"meltingpot/stag_hunt_in_the_matrix__repeated":         {113, 0xe52d791835e7bdd1},
		}[cfg.Kind()]
		if n := len(e.spec.Pixels) / 192; n != want.pictures || h.Sum64() != want.hash {
			t.Errorf("%s has %d pictures with hash %#x, want %d with %#x", cfg.Kind(), n, h.Sum64(), want.pictures, want.hash)
		}
	}
}
