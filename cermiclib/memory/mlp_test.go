// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"
	"testing"

	"cermic/envs"

	"cermic/cermiclib/rl"
)

func TestMLPKnowsTheStepBefore(t *testing.T) {
	// One environment, two agents, four steps; step 2 starts a new episode.
	spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: 2, Obs: []int{3}, Act: envs.ActSpec{Choices: 2}}
	x := rl.NewRollout(spec, 4, 0)
	for i := range x.Obs {
		x.Obs[i] = float32(i%7) - 3
	}
	x.IsFirst[0], x.IsFirst[2] = 1, 1
	rows := chunked(x, 1)
	c := DefaultMLP()
	m, p, _ := probe(t, c, spec, len(rows))
	now, before, exists := features(t, m, p, x, rows)
	if want := []float32{0, 0, 1, 1, 0, 0, 1, 1}; !slices.Equal(exists, want) {
		t.Errorf("f_{n-1} exists at %v, want %v", exists, want)
	}
	feature := func(of []float32, row int) []float32 { return of[row*c.Width : (row+1)*c.Width] }
	for _, row := range []int{2, 3, 6, 7} {
		if !slices.Equal(feature(before, row), feature(now, row-2)) {
			t.Errorf("f_{n-1} of row %d is not f_n of the same agent one step before", row)
		}
	}
	if slices.Equal(feature(now, 0), feature(now, 1)) {
		t.Error("two agents with different observations have equal features")
	}
}
