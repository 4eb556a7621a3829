// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"
	"strings"
	"testing"

	"cermic/envs"

	"cermic/cermiclib/nn"
)

// everybody makes every agent see every other one at every step, whatever the weights.
func everybody(c DynamicGraph) DynamicGraph {
	c.Online, c.Threshold = false, 1e-9
	return c
}

// TestCachedHistoryIsWhatWasSeenAtCollection changes what agent 0 saw at its first step after the rollout batch was watched. Its graph of
// two steps later attends over that moment: embedded anew, the feature follows; from the cache, it stays.
func TestCachedHistoryIsWhatWasSeenAtCollection(t *testing.T) {
	var before [2][]float32
	for i, history := range []string{HistoryRecompute, HistoryCached} {
		c := everybody(smallGraph())
		c.History = history
		spec := trio()
		x := wander(spec, 3, 1, 0, 1)
		m, p, _ := probe(t, c, spec, x.Rows())
		watch(t, m, x)
		rows := inChunks(x, 1)
		now, _, _ := features(t, m, p, x, rows)
		before[i] = slices.Clone(now)
		copy(x.Obs, []float32{3, -3, 3, -3})
		changed, _, _ := features(t, m, p, x, rows)
		at := func(v []float32, row int) []float32 { return v[row*c.Width : (row+1)*c.Width] }
		if last := 2 * spec.NumEnvs * spec.Agents; slices.Equal(at(now, last), at(changed, last)) != (history == HistoryCached) {
			t.Errorf("mem_history=%q: f_n of a later step follows what an earlier one is embedded as: %v", history, history == HistoryCached)
		}
		if slices.Equal(at(now, 0), at(changed, 0)) {
			t.Errorf("mem_history=%q: f_n does not follow its own moment", history)
		}
	}
	for k, want := range before[0] {
		if d := before[1][k] - want; d > 2e-4 || d < -2e-4 { // as in checkFeature: rounding in products of another shape
			t.Fatalf("with the weights of the collection, component %d of the features is %g cached and %g anew", k, before[1][k], want)
		}
	}
}

// duet has one copy of two teams: agents 0 and 2, agents 1 and 3.
func duet() *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 1, Agents: 4, Teams: []int{5, 2, 5, 2}, Obs: []int{4}, Act: envs.ActSpec{Choices: 2}}
}

func TestDetectorOfTypesTellsTeamsApart(t *testing.T) {
	c := smallGraph()
	c.Slots = SlotsType
	m, _, store := probe(t, c, duet(), 1)
	if got, want := nn.NumParameters(store, "/memory/detector/out"), 2*(detectorHidden+1); got != want {
		t.Errorf("the last layer of a detector of 2 types has %d parameters, want %d", got, want)
	}
	x := wander(duet(), 6, 1, 0)
	x.KeepLabels()
	g := m.(*graphMemory)
	watch(t, m, x)
	for row, seen := range g.seen {
		// Agent 0 sees team 2 as a whole, bits 1 and 3; of its own team, bits 0 and 2, the rest only.
		if i := row % 4; (i == 0 || i == 2) && (seen>>1&1 != seen>>3&1) || seen>>i&1 != 0 {
			t.Errorf("agent %d sees %04b: a team is seen or missed as a whole, and nobody sees itself", i, seen)
		}
	}
	labels := []float32{0, 1, 0, 0}
	if g.labelTypes(labels, 0); !slices.Equal(labels, []float32{0, 1, 0, 1}) {
		t.Errorf("agent 0 sees agent 1: labels of types are %v, want agents 1 and 3", labels)
	}
	labels = []float32{0, 1, 0, 0}
	if g.labelTypes(labels, 3); !slices.Equal(labels, []float32{0, 1, 0, 0}) {
		t.Errorf("agent 3 sees agent 1: labels of types are %v, want agent 1 alone", labels)
	}
}

func TestWrongHistoryAndSlotsAreRefused(t *testing.T) {
	for name, set := range map[string]func(*DynamicGraph){
		"mem_history": func(c *DynamicGraph) { c.History = "stored" },
		"det_slots":   func(c *DynamicGraph) { c.Slots = "kind" },
		"pretrain":    func(c *DynamicGraph) { c.Slots, c.Pretrain, c.Weights = SlotsType, PretrainFull, "0123456789abcdef" },
	} {
		c := DefaultGraph()
		set(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a wrong %s is answered with %v", name, err)
		}
	}
}
