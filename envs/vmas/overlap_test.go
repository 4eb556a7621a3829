// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"testing"
)

// In steps of a tenth of a second bodies get deep into each other and past each other, in the original too. How often
// must not differ: whole recordings are played freely, and pairs that are within half of the distance at which they begin to push are
// counted in the recorded and in the played states.
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
	// Runs part after some contacts, so that the counts are two samples of nearly one number: three deviations of their
	// difference if they shared nothing.
	if off := math.Abs(float64(played - recorded)); recorded == 0 || off > 3*math.Sqrt(float64(played+recorded)) {
		t.Errorf("%d deep overlaps, the recordings have %d", played, recorded)
	}
	t.Log(recorded, played)
}

// deep counts the pairs of all environments whose contact points are within half of the distance at which they begin to push.
func (w *World) deep() (count int) {
	for c := range w.copies {
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
