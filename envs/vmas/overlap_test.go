// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"testing"
)

// With steps of 0.1 s, bodies get deep into and past each other, in the original too. The frequency must agree: this
// replays whole recordings without reseating and counts the pairs within half of their contact distance, in the
// recorded and in the replayed states.
func TestBodiesGetIntoEachOtherAsOftenAsInTheOriginal(t *testing.T) {
	recorded, played := 0, 0
	for _, g := range goldens(t, "scenario") {
		e := g.build(t)
		f := newFollower(t, g, e)
		for at := range g.T {
			f.seat(at)
			recorded += e.world.deep()
		}
		f.seat(0)
		for at := range g.T {
			played += e.world.deep()
			f.step(at)
		}
	}
	// Replays diverge after some contacts, so the counts are two samples of nearly one number. The limit is three
	// standard deviations of the difference of independent counts.
	if off := math.Abs(float64(played - recorded)); recorded == 0 || off > 3*math.Sqrt(float64(played+recorded)) {
		t.Errorf("%d deep overlaps, the recordings have %d", played, recorded)
	}
	t.Log(recorded, played)
}

// deep counts the pairs, over all environments, whose contact points are within half of their contact distance.
func (w *World) deep() (count int) {
	for c := range w.numEnvs {
		for i := range w.pairs {
			p := &w.pairs[i]
			a, b := w.placed(c, int(p.a)), w.placed(c, int(p.b))
			if onA, onB := touching(p.kind, a, b); onA.Sub(onB).Norm() < p.reach/2 {
				count++
			}
		}
	}
	return count
}
