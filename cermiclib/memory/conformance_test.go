// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Narrow versions, so that the pure Go backend takes a moment only.
func narrow() []memory.Config {
	graph := memory.DefaultGraph()
	graph.Embed, graph.Node, graph.Edge, graph.Heads, graph.Hidden, graph.Width, graph.Queue = 8, 16, 4, 2, 16, 24, 3
	graph.Chunk = 4
	frozen := graph
	frozen.Online, frozen.Chunk = false, 1
	cached := graph
	cached.History, cached.Slots = memory.HistoryCached, memory.SlotsType
	return []memory.Config{
		memory.MLP{Embed: 8, Hidden: 16, Width: 24}, memory.GRU{Embed: 8, Layers: 2, Width: 16, Chunk: 4},
		memory.GRU{Embed: 8, Layers: 2, Width: 16, Chunk: 4, Gated: true}, graph, frozen, cached,
	}
}

func TestEveryMemoryKeepsTheContract(t *testing.T) {
	known := map[string]bool{}
	for _, c := range narrow() {
		known[c.Kind()] = true
		t.Run(c.Kind(), func(t *testing.T) { libtest.CheckMemory(t, c, false) })
	}
	for _, kind := range conf.Kinds[memory.Config]() {
		if known[kind] {
			continue
		}
		c, err := conf.New[memory.Config](kind)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(kind, func(t *testing.T) { libtest.CheckMemory(t, rl.OnSchedule(c, rl.Schedule{Width: 16}), false) })
	}
}

// On cells an observation passes through other layers below the memory, which its variants share.
func TestMemoriesKeepTheContractOnCells(t *testing.T) {
	if testing.Short() {
		t.Skip("convolves for seconds")
	}
	done := map[string]bool{}
	for _, c := range narrow() {
		if !done[c.Kind()] {
			t.Run(c.Kind(), func(t *testing.T) { libtest.CheckMemory(t, c, true) })
		}
		done[c.Kind()] = true
	}
}
