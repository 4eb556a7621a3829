// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"testing"

	"cermic/envs/rng"
)

// post is the initial state of a unit.
type post struct {
	kind  Type
	enemy bool
	x, y  float32
}

// arrange places units exactly, agents first. The clock is past the first run of the map's script, so enemies stay
// idle until the next one.
func arrange(posts ...post) *simulator { return arrangeOtherwise("", posts...) }

// arrangeOtherwise is arrange with one decision reversed.
func arrangeOtherwise(name string, posts ...post) *simulator {
	agents := 0
	for _, p := range posts {
		agents += count(!p.enemy)
	}
	s := DefaultSettings()
	s.Agents, s.Enemies, s.Otherwise = agents, len(posts)-agents, name
	sim := newSimulator(newRules(s, &protossRace), rng.New(1, "combat"))
	for i, p := range posts {
		k := &kinds[p.kind]
		sim.units[i] = soldier{
			X: p.x, Y: p.y, Health: k.life, Shield: k.shield, Hurt: -sim.shieldDelay, Type: p.kind, Order: Stop, Enemy: p.enemy,
		}
	}
	sim.clock.Loop = 1
	return sim
}

// attack orders agent 0 to attack unit target and returns the number of loops until the first damage, at most limit.
func (s *simulator) attack(target, limit int) int {
	s.command(&Command{Verb: Attack, Tag: 1, Target: uint64(target + 1)})
	u := s.units[target]
	for n := range limit {
		s.loop()
		if v := s.units[target]; v.Health+v.Shield < u.Health+u.Shield {
			return n
		}
	}
	return -1
}

// Damage and timing of one attack follow the weapon's data: damage point in loops, then flight. Targets stand still.
func TestWeaponsStrikeWithTheirDamageInTheirTime(t *testing.T) {
	for _, c := range []struct {
		from, to    Type
		apart       float32
		delay       int // loops from the start of the attack to the first damage
		loops       int // loops until all hits have landed
		health, all float32
	}{
		// A stalker's missile does 10 damage, 14 to armoured units. Over 5 cells at 1.17 per loop it flies 5 loops
		// after a wind-up of 3.
		{Stalker, Zealot, 5, 3 + 5, 9, 0, 10},
		{Stalker, Stalker, 5, 3 + 5, 9, 0, 14},
		// A zealot hits immediately and again 4 loops later; shields have no armour.
		{Zealot, Stalker, 1, 0, 5, 0, 16},
		// A colossus' two beams land together, 6 loops after a wind-up of 1.
		{Colossus, Stalker, 5, 1 + 6, 8, 0, 40},
		// Zerg have no shields: a zergling's 5 damage is reduced by 0 by armour 0 and, after its shields, by 1 by a
		// zealot's armour.
		{Zergling, Hydralisk, 0.8, 3, 4, 5, 0},
		// A needle flies 2.5 cells per loop: 2 loops for 5 cells after a wind-up of 3.
		{Hydralisk, Zergling, 5, 3 + 2, 6, 12, 0},
		// A baneling explodes immediately: 20 damage, 35 to light units.
		{Baneling, Zergling, 0.9, 0, 1, 35, 0},
		{Baneling, Baneling, 0.9, 0, 1, 20, 0},
	} {
		s := arrange(post{c.from, false, 10, 10}, post{c.to, true, 10 + c.apart, 10})
		s.units[1].Order = Nothing // an idle enemy would strike back
		before := s.units[1]
		if got := s.attack(1, 20); got != c.delay {
			t.Errorf("%v against %v: first damage after %d loops, want %d", c.from, c.to, got, c.delay)
		}
		after(s, 1+c.loops-int(s.clock.Loop))
		health, shield := before.Health-s.units[1].Health, before.Shield-s.units[1].Shield
		// Living zerg regain 0.02 life per loop.
		if math.Abs(float64(health-c.health)) > 0.1 || shield != c.all {
			t.Errorf("%v against %v: lost %g life and %g shield, want %g and %g", c.from, c.to, health, shield, c.health, c.all)
		}
	}
}

func TestShieldsGoFirstAndArmourTakesFromLifeOnly(t *testing.T) {
	s := arrange(post{Zealot, false, 1, 1}, post{Zealot, true, 2, 1}) // 8 damage per hit, armour 1
	s.units[1].Shield = 3
	s.hit(0, 1)
	if u := s.units[1]; u.Shield != 0 || u.Health != 96 { // 3 from the shield, 5 − 1 from life
		t.Errorf("shield %g and life %g, want 0 and 96", u.Shield, u.Health)
	}
	s.units[1].Shield = 7.75
	s.hit(0, 1)
	if u := s.units[1]; u.Health != 95.5 { // the remaining 0.25 is below the armour, so the minimum of 0.5 applies
		t.Errorf("life %g, want 95.5", u.Health)
	}
	s.units[1].Shield = 8
	s.hit(0, 1)
	if u := s.units[1]; u.Health != 95.5 || u.Shield != 0 {
		t.Errorf("life %g and shield %g, want 95.5 and 0: the shield absorbs all damage", u.Health, u.Shield)
	}
}

func TestShieldsGrowTenSecondsAfterTheLastDamage(t *testing.T) {
	grown := func(s *simulator, loops int) soldier {
		for range loops {
			s.grow()
			s.clock.Loop++
		}
		return s.units[0]
	}
	s := arrange(post{Stalker, false, 1, 1}, post{Stalker, true, 30, 30})
	s.units[0].Shield, s.units[0].Hurt = 40, s.clock.Loop
	if u := grown(s, 160); u.Shield != 40 {
		t.Errorf("shield %g within 160 loops of the damage, want 40", u.Shield)
	}
	if u := grown(s, 16); u.Shield != 42 || u.Health != 80 {
		t.Errorf("shield %g and life %g a second later, want 42 and 80", u.Shield, u.Health)
	}
	s = arrange(post{Zergling, false, 1, 1})
	s.units[0].Health = 10
	if got := grown(s, 160).Health; math.Abs(float64(got)-12.734) > 1e-3 { // 0.2734 per second
		t.Errorf("zerg life %g after 10 seconds, want 12.734", got)
	}
}

// The two beams cross the line of fire at the target, 1.25 cells to either side. They hit a neighbour whose edge they
// touch, but no unit behind the target or on the colossus' own side.
func TestBeamsSweepAcrossTheLineOfFire(t *testing.T) {
	s := arrange(
		post{Colossus, false, 10, 10}, post{Zealot, false, 15, 11}, // an ally, not hit
		post{Zealot, true, 15, 10},                                // the target
		post{Zealot, true, 15, 11.8}, post{Zealot, true, 15, 8.2}, // edges at 1.3, between 1.25 and 1.25 + 0.15
		post{Zealot, true, 15, 12.2}, // edge at 1.7
		post{Zealot, true, 16, 10},   // edge half a cell behind
	)
	still(s, 0, 1, 2, 3, 4, 5, 6)
	s.units[0].Target = 2
	s.sweep(0, &s.units[0])
	s.clock.Loop += s.beamDelay
	s.land()
	for i, want := range []float32{150, 50, 10, 10, 10, 50, 50} {
		if s.units[i].Shield != want {
			t.Errorf("unit %d has shield %g, want %g", i, s.units[i].Shield, want)
		}
	}
}

// A baneling's explosion makes banelings in its radius explode. Its own side is not hit, and each baneling explodes
// once.
func TestBanelingsBurstInChains(t *testing.T) {
	s := arrange(
		post{Baneling, false, 10, 10}, post{Zergling, false, 10.5, 10}, post{Hydralisk, false, 13, 10},
		post{Baneling, true, 11, 10}, post{Baneling, true, 12, 10}, post{Hydralisk, true, 14.9, 10},
		post{Zergling, true, 12.5, 10},
	)
	s.units[3].Health, s.units[4].Health = 20, 20 // one explosion each
	s.kill(0)
	for i, want := range []bool{true, true, false, true, true, false, true} {
		if (s.units[i].Health <= 0) != want {
			t.Errorf("unit %d: dead is %v, want %v", i, !want, want)
		}
	}
	// The agents' hydralisk is within 2.2 + 0.625 of both enemy banelings: 20 + 15 damage each.
	if got := s.units[2].Health; got != 80-2*35 {
		t.Errorf("the hydralisk between them has %g, want 10", got)
	}
	if got := s.units[5].Health; got != 80 {
		t.Errorf("the distant hydralisk has %g, want 80", got)
	}
}

// A missile lands although its shooter is dead. A held blow, such as a zealot's second hit, is cancelled if the attacker
// dies.
func TestAnAttackersDeathCancelsOnlyWhatItStillHolds(t *testing.T) {
	for _, c := range []struct {
		from, to Type
		apart    float32
		dies     int // loops after the order
		shield   float32
	}{
		{Stalker, Zealot, 5, 5, 40}, // wind-up of 3, then in flight
		{Zealot, Stalker, 1, 1, 72}, // one hit of 8
	} {
		s := still(arrange(post{c.from, false, 10, 10}, post{c.to, true, 10 + c.apart, 10}), 1)
		s.command(&Command{Verb: Attack, Tag: 1, Target: 2})
		after(s, c.dies).kill(0)
		if got := after(s, 6).units[1].Shield; got != c.shield {
			t.Errorf("%v against %v: shield %g, want %g", c.from, c.to, got, c.shield)
		}
	}
}

// Another order during the wind-up cancels the attack; repeating the same order does not.
func TestOnlyAnotherOrderCancelsAnAttack(t *testing.T) {
	for again, want := range map[bool]float32{true: 40, false: 50} {
		s := still(arrange(post{Stalker, false, 10, 10}, post{Zealot, true, 13, 10}), 1)
		order := Command{Verb: Attack, Tag: 1, Target: 2}
		s.command(&order)
		after(s, 2).command(&order)
		if !again {
			s.command(&Command{Verb: Stop, Tag: 1})
		}
		if got := after(s, 10).units[1].Shield; got != want {
			t.Errorf("same order %v: shield %g, want %g", again, got, want)
		}
	}
}

// The time between two attacks is the weapon's period plus an integer from −1 to 2, and all four values occur.
func TestPeriodsVaryByWholeLoops(t *testing.T) {
	s := arrange(post{Zergling, false, 10, 10}, post{Colossus, true, 11, 10})
	s.units[1].Order = Nothing
	s.command(&Command{Verb: Attack, Tag: 1, Target: 2})
	seen, last := map[int32]int{}, int32(-1)
	for range 4000 {
		s.units[1].Shield = 150
		before := s.units[0].Cooldown
		s.loop()
		if s.units[0].Cooldown <= before {
			continue
		}
		if last >= 0 {
			seen[s.clock.Loop-last]++
		}
		last = s.clock.Loop
	}
	for gap, n := range seen { // 11.136 − 1 … + 2, rounded up to whole loops
		if gap < 11 || gap > 14 || n < 50 {
			t.Errorf("%d attacks after %d loops", n, gap)
		}
	}
	if len(seen) != 4 {
		t.Errorf("gaps %v, want four different ones", seen)
	}
}

func TestBodiesOfOneLayerNeverStayInOneAnother(t *testing.T) {
	s := arrange(
		post{Zealot, false, 16, 16}, post{Zealot, false, 16, 16}, post{Stalker, false, 16.1, 16},
		post{Colossus, false, 16, 16},
		post{Zealot, true, 0, 0}, post{Zealot, true, 0, 0},
	)
	for range 50 {
		s.collide()
	}
	for i := range s.units {
		for j := range i {
			a, b := &s.units[i], &s.units[j]
			room := kinds[a.Type].separation + kinds[b.Type].separation
			d := root(square(a, b))
			if (a.Type == Colossus) == (b.Type == Colossus) && d < room-1e-3 {
				t.Errorf("units %d and %d are %g apart, want %g", j, i, d, room)
			}
		}
	}
	if u := &s.units[3]; u.X != 16 || u.Y != 16 {
		t.Errorf("the colossus was pushed to (%g, %g) by those below it", u.X, u.Y)
	}
}

// The map's script sends idle enemies to attack the nearest agent every 8 loops. Between its runs, they acquire
// targets within 5 cells.
func TestEnemiesAttackWhoIsNearest(t *testing.T) {
	s := arrange(post{Zealot, false, 4, 16}, post{Zealot, false, 12, 16}, post{Zealot, true, 28, 16})
	s.loop()
	if s.units[2].Order != Stop {
		t.Error("an enemy moves before the script runs")
	}
	s.clock.Loop = 8
	s.loop()
	if u := s.units[2]; u.Order != Attack || u.Target != 1 {
		t.Errorf("order %d against unit %d, want an attack on unit 1", u.Order, u.Target)
	}
	s.units[0].X = 20 // nearer now, but the order stays
	s.loop()
	s.clock.Loop = 16
	if s.loop(); s.units[2].Target != 1 {
		t.Error("the enemy drops its target while it is alive")
	}
	s.kill(1)
	s.units[0].X, s.units[0].Y = s.units[2].X-5.9, 16 // edges 4.9 apart
	s.clock.Loop = 17
	if s.loop(); s.units[2].Target != 0 || s.units[2].Order != Attack {
		t.Error("an idle enemy does not attack an agent within 5 cells")
	}
}
