// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"testing"

	"cermic/envs/rng"
)

// still makes units idle, without reacting to enemies.
func still(s *simulator, units ...int) *simulator {
	for _, i := range units {
		s.units[i].Order = Nothing
	}
	return s
}

// after advances by a number of loops.
func after(s *simulator, loops int) *simulator {
	for range loops {
		s.loop()
	}
	return s
}

// duel is the number of loops from an order to attack to the first damage.
func duel(from, to Type, apart float32) func(string) float64 {
	return func(name string) float64 {
		s := still(arrangeOtherwise(name, post{from, false, 10, 10}, post{to, true, 10 + apart, 10}), 1)
		return float64(s.attack(1, 20))
	}
}

// lostByTarget is the total damage to the first target of an attack.
func lostByTarget(from, to Type, apart float32, loops int) func(string) float64 {
	return func(name string) float64 {
		s := still(arrangeOtherwise(name, post{from, false, 10, 10}, post{to, true, 10 + apart, 10}), 1)
		before := s.units[1].Health + s.units[1].Shield
		s.command(&Command{Verb: Attack, Tag: 1, Target: 2})
		after(s, loops)
		return math.Round(float64(before - s.units[1].Health - s.units[1].Shield)) // regained life is some hundredths
	}
}

// Each alternative changes the one number that it is about, and no other alternative does.
func TestEveryAlternativeDoesWhatItSays(t *testing.T) {
	for name, c := range map[string]struct {
		without, with float64
		measure       func(string) float64
	}{
		"ladder":        {10, 13, lostByTarget(Stalker, Zealot, 5, 10)},
		"clock":         {2.25 / 16, 2.25 / 22.4, stride},
		"list_reversed": {2, 3, firstEnemy},
		"retarget":      {0, 1, chosenTarget},
		"patient":       {float64(Attack), float64(Stop), orderOfAnIdleEnemy},
		"defend":        {float64(Stop), float64(Attack), orderOfAnIdleAgent},
		"turning":       {2.25 / 16, 0, stride}, // to the west, while created units face east
		"no_collision":  {0.75, 0.1, gapOfTwoZealots},
		"spread":        {0.05, 0.5, offset},
		"no_slop":       {10, 0, driftingTarget},
		"even_periods":  {4, 1, differentPeriods},
		"no_windup":     {3 + 5, 5, duel(Stalker, Zealot, 5)},
		"both_at_once":  {8, 16, lostByTarget(Zealot, Stalker, 1, 1)},
		"no_flight":     {3 + 5, 3, duel(Stalker, Zealot, 5)},
		"instant":       {3 + 5, 0, duel(Stalker, Zealot, 5)},
		"beams_at_once": {1 + 6, 1, duel(Colossus, Stalker, 5)},
		"blast_centres": {35, 0, blastAtTheEdge},
		"short_form":    {3 + 1, 5 + 1, duel(Hydralisk, Zergling, 1.4)}, // 0.4 between the edges, a missile of 1 loop
		"first_strikes": {0, 1, survivors},
		"rim": {1, 0, func(name string) float64 {
			return float64(count(arrangeOtherwise(name, post{Zealot, false, 1, 1}).Ground().walkable(31, 5)))
		}},
	} {
		// Lengths are float32.
		if got := c.measure(""); math.Abs(got-c.without) > 1e-3 {
			t.Errorf("without %s: %g, want %g", name, got, c.without)
		}
		if got := c.measure(name); math.Abs(got-c.with) > 1e-3 {
			t.Errorf("with %s: %g, want %g", name, got, c.with)
		}
	}
	if len(alternatives) != 20 {
		t.Errorf("%d alternatives, want the 20 of this test", len(alternatives))
	}
}

// stride is the distance that a zealot moves to the west in one loop.
func stride(name string) float64 {
	s := arrangeOtherwise(name, post{Zealot, false, 10, 10})
	s.command(&Command{Verb: Move, Tag: 1, X: 5, Y: 10})
	return float64(10 - after(s, 1).units[0].X)
}

func firstEnemy(name string) float64 {
	s := arrangeOtherwise(name, post{Zealot, false, 1, 1}, post{Zealot, true, 9, 9}, post{Zealot, true, 12, 12})
	return float64(s.observe(nil, false)[1].Tag)
}

// chosenTarget is the target of an enemy that approaches agent 0 while agent 1 is nearer.
func chosenTarget(name string) float64 {
	s := arrangeOtherwise(name, post{Zealot, false, 20, 10}, post{Zealot, false, 12, 10}, post{Zealot, true, 10, 10})
	s.units[2].Order, s.units[2].Target = Attack, 0
	return float64(after(s, 1).units[2].Target)
}

func orderOfAnIdleEnemy(name string) float64 {
	return float64(after(arrangeOtherwise(name, post{Zealot, false, 10, 10}, post{Zealot, true, 13, 10}),
		1).units[1].Order)
}

func orderOfAnIdleAgent(name string) float64 {
	return float64(after(still(arrangeOtherwise(name, post{Zealot, false, 10, 10}, post{Zealot, true, 13, 10}), 1),
		1).units[0].Order)
}

func gapOfTwoZealots(name string) float64 {
	s := after(arrangeOtherwise(name, post{Zealot, false, 10, 10}, post{Zealot, false, 10.1, 10}), 1)
	return float64(s.units[1].X - s.units[0].X)
}

// offset is the largest of many offsets from the requested position, in twentieths of a cell.
func offset(name string) float64 {
	rules := newRules(DefaultSettings(), &protossRace)
	rules.n, rules.m, rules.Otherwise = 1, 0, name
	s, l, most := newSimulator(rules, rng.New(1, "offset")), newLineup(rules), 0.0
	l.Types[0] = Zealot
	for range 1000 {
		l.At[0] = [2]float32{16, 16}
		seen, _ := s.Deploy(l, nil) // the simulator returns no errors
		most = max(most, math.Abs(float64(seen[0].X-16)))
	}
	return math.Ceil(most*20) / 20
}

// driftingTarget is the damage to a target that moves half a cell beyond the weapon's range during the wind-up.
func driftingTarget(name string) float64 {
	// edges: 6 − 1/8 cells apart
	s := still(arrangeOtherwise(name, post{Stalker, false, 10, 10}, post{Zealot, true, 17, 10}), 1)
	s.command(&Command{Verb: Attack, Tag: 1, Target: 2})
	after(s, 1)
	s.units[1].X += 0.5
	after(s, 3)
	s.command(&Command{Verb: Stop, Tag: 1}) // keeps it from following
	after(s, 8)
	return float64(50 - s.units[1].Shield)
}

// differentPeriods counts the different times between two attacks.
func differentPeriods(name string) float64 {
	s, seen := arrangeOtherwise(name, post{Zealot, false, 10, 10}, post{Zealot, true, 11, 10}), map[float32]bool{}
	still(s, 1)
	for range 100 {
		s.units[0].Order, s.units[0].Target, s.units[0].Cooldown, s.clock.Flying = Attack, 1, 0, 0
		s.engage(0, &s.units[0])
		seen[s.units[0].Cooldown] = true
	}
	return float64(len(seen))
}

// blastAtTheEdge is the damage of an exploding baneling to a zergling with its edge, but not its centre, within the
// radius.
func blastAtTheEdge(name string) float64 {
	s := still(arrangeOtherwise(name, post{Baneling, false, 10, 10}, post{Zergling, true, 12.4, 10}), 1)
	s.kill(0)
	return float64(35 - s.units[1].Health)
}

// survivors counts the survivors of two zealots, with one point of life each, that strike in the same loop.
func survivors(name string) float64 {
	s := arrangeOtherwise(name, post{Zealot, false, 10, 10}, post{Zealot, true, 11, 10})
	for i := range s.units {
		u := &s.units[i]
		u.Health, u.Shield, u.Order, u.Target = 1, 0, Attack, int32(1-i)
	}
	after(s, 1)
	return float64(count(s.units[0].Health > 0) + count(s.units[1].Health > 0))
}
