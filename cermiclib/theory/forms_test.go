// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"
	"testing"
)

// On the chain, a bonus that fades where the learner has been finds the far end; the letter's constant, which adds the same to every
// action, does not.
func TestConstantBonusFindsNothing(t *testing.T) {
	m, err := Chain(5, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := DefaultLSVI()
	l.Zeta = 2
	curves, err := FormCurves(m, l, []uint64{1})
	if err != nil {
		t.Fatal(err)
	}
	last := map[Bonus]float64{}
	for _, c := range curves {
		last[c.Bonus] = c.Regret[len(c.Regret)-1]
		for _, b := range c.MeanBonus {
			if math.IsNaN(b) || c.Bonus == Divergence && b != l.Zeta {
				t.Fatalf("bonus %s is %g", c.Bonus, b)
			}
		}
	}
	if last[UCB] > 0.1 || last[Information] > 0.1 {
		t.Errorf("the elliptical form ends with a regret of %g, Theorem 1's with %g", last[UCB], last[Information])
	}
	if last[Divergence] < 1 {
		t.Errorf("the divergence alone ends with a regret of %g", last[Divergence])
	}
}

// Where every pair has been visited alike, the aggregate form gives the logarithm of their number, and the progress form nothing to
// a pair that the last episode did not visit.
func TestFormsOfAStage(t *testing.T) {
	m, err := Chain(4, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := DefaultLSVI()
	l.Bonus, l.Zeta = Progress, 1
	p := newPlanner(m, l)
	p.plan()
	if got := p.bonus(0, 0, p.uncertainty[0]); got != 0 {
		t.Errorf("before anything was learned, progress is %g", got)
	}
	for pair := range 8 {
		p.stages[0].observe(m, pair, 0)
	}
	want := -math.Log((1 + 7*math.Exp(-10)) / 8)
	if got := p.stages[0].aggregate(m, 3); math.Abs(got-want) > 1e-12 {
		t.Errorf("aggregate of one pair of eight is %g nats, want %g", got, want)
	}
	p.plan()
	// x fell from 1 to 1/2: (c/2)·log(2/1.5).
	if got, want := p.bonus(0, 5, p.uncertainty[5]), 3*math.Log(2/1.5); math.Abs(got-want) > 1e-12 {
		t.Errorf("progress of the first visit is %g, want %g", got, want)
	}
	p.plan()
	if got := p.bonus(0, 5, p.uncertainty[5]); got != 0 {
		t.Errorf("an episode later it is %g", got)
	}
}
