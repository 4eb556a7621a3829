// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"math"
	"testing"

	"cermic/envs"
)

// LogProbs agrees with Sample for a mixture of three distributions with a forbidden action, and for a greedy policy
// with ε = 0.3.
func TestLogProbsAgreeWithSample(t *testing.T) {
	s := &envs.Spec{NumEnvs: 1, Agents: 2, Act: envs.ActSpec{Choices: 3}}
	d := NewDist(s, 0)
	copy(d.Logits, []float32{0.5, -1, 2, 0, 3, 1})
	d.Mask, d.Other = []uint8{1, 1, 0, 1, 1, 1}, []float32{1, 0, 0, 0, 0, 4}
	d.Share, d.Eps = 0.4, 0.2
	for _, greedy := range []bool{false, true} {
		if d.Greedy = greedy; greedy {
			d.Share, d.Eps = 0, 0.3
		}
		got := make([]float32, 6)
		d.LogProbs(got)
		act := envs.NewActions(s)
		for i, l := range got {
			row := i / 3
			act.Discrete[row] = int32(i % 3)
			want := -20.0
			if d.Mask[i] != 0 {
				want = d.logMixture(row, d.logBase(row, act), act)
			}
			if math.Abs(float64(l)-want) > 1e-6 {
				t.Errorf("greedy %v, agent %d, action %d: %g, want %g", greedy, row, i%3, l, want)
			}
		}
	}
}
