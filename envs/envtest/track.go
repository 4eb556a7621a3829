// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"math"
	"testing"

	"cermic/envs"
)

// trackedPlacesAgree compares the distances between a Tracker's positions with the lengths of RelPos.
func trackedPlacesAgree(t *testing.T, cfg envs.Config) {
	p := start(t, cfg, numEnvs, 1, 1)
	tracker, ok := p.env.(envs.Tracker)
	if !ok {
		t.Skip("the task is not an envs.Tracker")
	}
	n := p.spec.Agents
	at := make([]float32, numEnvs*n*3)
	for range steps {
		tracker.Track(at)
		for pair := range numEnvs * n * n {
			i, j := pair/n, pair/n/n*n+pair%n
			if kind := at[3*j+2]; kind < 0 || kind != float32(math.Trunc(float64(kind))) {
				t.Fatalf("agent row %d has type %g, want a whole number of at least 0", j, kind)
			}
			if p.out.Alive[i] == 0 || p.out.Alive[j] == 0 {
				continue
			}
			want := math.Hypot(float64(p.out.RelPos[2*pair]), float64(p.out.RelPos[2*pair+1]))
			got := math.Hypot(float64(at[3*j]-at[3*i]), float64(at[3*j+1]-at[3*i+1]))
			if math.Abs(got-want) > 1e-4*(1+want) { // rounding of a difference of positions in float32
				t.Fatalf("step %d: the distance of agents %d and %d is %g by Track and %g by RelPos", p.t, i, j, got, want)
			}
		}
		p.next()
	}
}
