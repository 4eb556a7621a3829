// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"fmt"
	"testing"
)

// changes calls update n times without executing any operation, so the board stays as it is. It counts how often each
// of these sites would have changed, and their sum.
func changes(b *board, n int, sites []int16) (counts []float64, sum float64) {
	d, act, all := &dice{}, make([]int32, len(b.avatars)), make([]float64, len(b.sites))
	d.Seed(7, "changes")
	for range n {
		b.rules.update(act, d)
		for _, o := range b.next {
			if o.kind == opSite {
				all[o.who]++
			}
		}
		b.next = b.next[:0]
	}
	for _, s := range sites {
		counts = append(counts, all[s])
		sum += all[s]
	}
	return counts, sum
}

// The probability of an apple falls linearly from 0.05 beside a clean river to 0 at a dirty fraction of two fifths,
// i.e. 58.8 cells.
func TestApplesGrowAsOftenAsTheRiverIsClean(t *testing.T) {
	const n = 10000
	x := newCleanUp(newRiver())
	for dirty, chance := range map[int]float64{0: 0.05, 15: 0.05 * 43.8 / 58.8, 29: 0.05 * 29.8 / 58.8,
		58: 0.05 * 0.8 / 58.8, 59: 0, 147: 0} {
		x.reset(&dice{})
		for k, s := range x.river.dirt {
			x.sites[s].state = siteEmpty
			if k < dirty {
				x.sites[s].state = siteFull
			}
		}
		counts, sum := changes(&x.board, n, x.river.apples)
		what := fmt.Sprintf("apples beside %d dirty cells", dirty)
		binomial(t, what, sum, float64(n*len(counts)), chance)
		if chance > 0 {
			uniform(t, what, counts)
		}
	}
}

// A cell gets dirty in every second step, uniformly among the clean cells.
func TestEveryCleanCellIsAsLikelyToGetDirty(t *testing.T) {
	const n = 20000
	x := newCleanUp(newRiver())
	x.reset(&dice{})
	x.frame = foulAfter + 1
	var clean []int16
	for _, s := range x.river.dirt {
		if x.sites[s].state == siteEmpty {
			clean = append(clean, s)
		}
	}
	counts, sum := changes(&x.board, n, clean)
	binomial(t, "new dirt in a clean cell", sum, n, 0.5)
	uniform(t, "new dirt", counts)
}

// A taken resource returns with probability 1/50 per step, at any site.
func TestResourcesComeBackInOneOfFiftySteps(t *testing.T) {
	const n = 20000
	for _, cfg := range allTasks(t) {
		e, _, _ := build(t, cfg, 1, 1)
		m, ok := e.games[0].(*matrix)
		if !ok {
			continue
		}
		m.frame = regrowAge
		var sites []int16
		for s := range m.sites {
			m.sites[s].state = waiting
			sites = append(sites, int16(s))
		}
		counts, sum := changes(&m.board, n, sites)
		binomial(t, cfg.Kind(), sum, float64(n*len(counts)), 0.02)
		uniform(t, cfg.Kind(), counts)
	}
}

// Episodes end at random with the steps 1099, 1199 and so on only: one in ten in matrix games, one in five in
// clean_up. This test checks these steps and their neighbours without playing the steps between.
func TestEpisodesEndByChanceAtRecordedSteps(t *testing.T) {
	const numEnvs = 400
	for _, cfg := range allTasks(t) {
		e, out, act := build(t, cfg, numEnvs, 0)
		chance := 0.1
		if cfg.Kind() == DefaultCleanUp().Kind() {
			chance = 0.2
		}
		ends, draws := 0.0, 0.0
		for at := 98; at <= 2500; at++ {
			if near := (at + 2) % 100; near > 2 {
				continue
			}
			for _, g := range e.games {
				g.base().frame = int32(at - 1)
			}
			e.Step(act, out)
			over := 0
			for c := range numEnvs {
				over += int(out.Terminated[c])
			}
			if at >= 1099 && at%100 == 99 {
				ends, draws = ends+float64(over), draws+numEnvs
			} else if over > 0 {
				t.Errorf("%s: %d episodes end at random with step %d", cfg.Kind(), over, at)
			}
		}
		binomial(t, cfg.Kind(), ends, draws, chance)
	}
}
