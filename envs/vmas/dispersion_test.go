// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"testing"

	"cermic/envs"
)

// The script eats everything: four pieces give each agent a return of 4 in both streams and disappear from the scene.
func TestDispersionPaysForEveryPieceAndDrawsItNoMore(t *testing.T) {
	e := buildNumEnvs(t, DefaultDispersion(), 16)
	out, act, n := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), e.spec.Agents
	sum, over := make([]float32, 16), make([]bool, 16)
	for range e.spec.Horizon {
		e.Script(act)
		e.Step(act, out)
		for c := range over {
			if over[c] {
				continue
			}
			if out.Sparse[c*n] != out.Dense[c*n] {
				t.Fatalf("environment %d: sparse %g, dense %g; want the same", c, out.Sparse[c*n], out.Dense[c*n])
			}
			sum[c] += out.Sparse[c*n]
			over[c] = out.Terminated[c] != 0
			food := 0
			for _, s := range e.Scene(c).Shapes {
				if s.Role == envs.RoleTarget {
					food++
				}
			}
			if want := 4 - int(sum[c]); food != want || over[c] != (want == 0) {
				t.Fatalf("environment %d: %d pieces drawn, over is %v; want %d pieces", c, food, over[c], want)
			}
		}
	}
	for c := range over {
		if !over[c] || sum[c] != 4 {
			t.Errorf("environment %d: over is %v after a return of %g, want an end at a return of 4", c, over[c], sum[c])
		}
		if !e.spec.Succeeds(float64(sum[c])) || e.spec.Succeeds(3) {
			t.Error("success must require all food, and nothing else")
		}
	}
}
