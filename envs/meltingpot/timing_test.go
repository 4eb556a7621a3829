// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"testing"

	"cermic/envs"
)

// eager are draws in which every random event occurs, except the end of an episode. Recordings do not reveal when a
// failed draw is made; with these draws, the first draw succeeds.
type eager struct{ dice }

func (*eager) chance(rule, int, float64) bool { return true }

// eagerly makes an environment in which every random event occurs and no player moves.
func eagerly(t *testing.T, cfg envs.Config) (g game, wait func()) {
	t.Helper()
	e, _, act := build(t, cfg, 1, 1)
	d := &eager{}
	d.Seed(1, "eager")
	g = e.games[0]
	g.reset(d)
	return g, func() { g.base().step(act.Discrete, d) }
}

// A resource returns 11 steps after it was taken at the earliest, and not under a player.
func TestResourcesComeBackElevenStepsAfterTheyWent(t *testing.T) {
	g, wait := eagerly(t, DefaultChicken())
	m := g.(*matrix)
	for k := range 2 {
		m.sites[k] = site{waiting, m.frame + 1} // as if taken in this step
	}
	taken := m.layout.sites[1]
	m.avatars[0].cell = taken
	m.stand()
	for at := 1; at <= 15; at++ {
		wait()
		if back := m.sites[0].state == present; back != (at >= 11) {
			t.Errorf("%d steps after it was taken, the resource is back: %v", at, back)
		}
		if m.sites[1].state == present {
			t.Errorf("%d steps after it was taken, the resource under a player is back", at)
		}
	}
}

// Dirt spreads from step 51 on, by one cell per step. Apples do not grow while two fifths of the river are dirty and,
// with these draws, all grow at once otherwise.
func TestDirtAndApplesComeWhenTheyMay(t *testing.T) {
	g, wait := eagerly(t, DefaultCleanUp())
	x := g.(*cleanUp)
	start := x.dirty()
	for at := 1; at <= 60; at++ {
		wait()
		if got, want := x.dirty()-start, max(0, at-50); got != want {
			t.Fatalf("after %d steps %d more cells are dirty, want %d", at, got, want)
		}
	}
	apples := func() (n int) {
		for _, s := range x.river.apples {
			n += int(x.sites[s].state)
		}
		return n
	}
	clean := func(dirty int) {
		for k, s := range x.river.dirt {
			x.sites[s].state = siteEmpty
			if k < dirty {
				x.sites[s].state = siteFull
			}
		}
		wait()
	}
	// 59 of 147 cells are 0.401 and 58 are 0.395.
	if clean(59); apples() != 0 {
		t.Errorf("%d apples grow beside a river that is two fifths dirty", apples())
	}
	if clean(58); apples() != len(x.river.apples) {
		t.Errorf("%d apples grow beside a cleaner river, want %d", apples(), len(x.river.apples))
	}
}

// While all players are away, all taken resources return at once, at any age.
func TestAllResourcesComeBackWhileNobodyIsThere(t *testing.T) {
	g, wait := eagerly(t, DefaultStagHunt())
	m := g.(*matrix)
	for s := range m.sites {
		m.sites[s] = site{waiting, m.frame + 1}
	}
	wait()
	if m.sites[0].state != waiting {
		t.Error("resources return at once although players are alive")
	}
	for i := range m.avatars {
		m.avatars[i].alive, m.avatars[i].since = false, m.frame+1
	}
	m.stand()
	wait()
	for s := range m.sites {
		if m.sites[s].state != present {
			t.Fatalf("resource %d does not return while all players are away", s)
		}
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
