// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"

	"cermic/envs/rng"
)

// simulator is the Field that runs everywhere: the game's rules for six types of units, loop by loop, with the game's own
// numbers. What those leave open is decided here, under the numbers of the list in README.md.
//
// DECISION 23: one named stream an environment drives teams, places, orders and weapon jitter, so that equal seeds give equal
// battles on all processors; only conic_fov and otherwise=turning use sines and arc tangents, whose last bits may differ.
type simulator struct {
	*physics
	agents int
	loops  int       // of one step
	units  []soldier // [N+M] agents first, in order of creation
	flying []blow    // the first Clock.Flying are on their way, in order of launch
	clock  simClock
	order  []int32 // scratch: who acts when
	chance *rng.Rand
	ground *Terrain
}

// simClock holds the simulator's counters.
type simClock struct {
	Loop   int32 // loops since the units were created
	Flying int32
}

// soldier is one unit in the simulator. Fields are exported for encoding only.
type soldier struct {
	X, Y, Health, Shield, Cooldown float32
	GoalX, GoalY                   float32 // of Move
	WindUp                         int32   // loops until the attack in progress takes effect; 0: none is
	Hurt                           int32   // loop of the last damage
	Target                         int32   // of Attack
	Type                           Type
	Order                          Verb // Stop, Move or Attack
	Enemy                          bool
	Facing                         float32 // radians; only where turning takes time
}

// Fixed parts of the simulation.
const (
	scriptPeriod = 8     // loops; DECISION 6: the map's script runs every half game second
	settlePasses = 10    // DECISION 13: units that have just appeared are pushed apart that often
	edge         = 31.99 // cells; DECISION 12: no unit leaves the map
)

func newSimulator(k *rules, chance *rng.Rand) *simulator {
	all := k.n + k.m
	s := &simulator{
		physics: newPhysics(k.Otherwise), agents: k.n, loops: int(k.LoopsPerStep), units: make([]soldier, all), order: make([]int32, all),
		chance: chance, ground: k.ground,
	}
	// One attack strikes each unit twice at most, and no unit attacks again before its last blow has landed or is the
	// only one left: missiles fly for at most as many loops as a weapon's period.
	s.flying = make([]blow, 2*all*(all+1))
	return s
}

// Deploy creates the units and lets one loop pass.
func (s *simulator) Deploy(l *Lineup, seen []Sighting) ([]Sighting, error) {
	s.clock = simClock{}
	for i := range s.units {
		k := &s.kinds[l.Types[i]]
		s.units[i] = soldier{
			X: l.At[i][0] + s.chance.Uniform(-s.jitter, s.jitter), Y: l.At[i][1] + s.chance.Uniform(-s.jitter, s.jitter),
			Health: k.life, Shield: k.shield, Hurt: -s.shieldDelay, Type: l.Types[i], Order: Stop, Enemy: i >= s.agents,
		}
	}
	for range settlePasses {
		s.collide()
	}
	s.loop()
	return s.look(seen, true), nil
}

// Play hands out the commands and lets the loops of a step pass.
func (s *simulator) Play(orders []Command, seen []Sighting) ([]Sighting, error) {
	for i := range orders {
		s.command(&orders[i])
	}
	for range s.loops {
		s.loop()
	}
	return s.look(seen, false), nil
}

// Ground is flat, all of it to be walked on but for the alternative to decision 22.
func (s *simulator) Ground() *Terrain { return s.ground }

// look lists the living units, or all. A unit's tag is its number, from 1.
func (s *simulator) look(seen []Sighting, all bool) []Sighting {
	seen = seen[:0]
	for at := range s.units {
		i := at
		if s.listReversed && i >= s.agents {
			i = len(s.units) - 1 - (at - s.agents)
		}
		u := &s.units[i]
		if u.Health <= 0 && !all {
			continue
		}
		k := &s.kinds[u.Type]
		seen = append(seen, Sighting{Tag: uint64(i + 1), Enemy: u.Enemy, Unit: Unit{
			Type: u.Type, X: u.X, Y: u.Y, Health: u.Health, HealthMax: k.life, Shield: u.Shield, ShieldMax: k.shield,
			Cooldown: u.Cooldown,
		}})
	}
	return seen
}

// command gives an agent's unit a new order. An attack on the target it already has changes nothing.
//
// DECISION 15: any other order cancels a wind-up; the weapon stays unready.
// DECISION 9: agents' units follow their orders and do nothing else.
func (s *simulator) command(c *Command) {
	if c.Verb == Nothing {
		return
	}
	u := &s.units[c.Tag-1]
	switch c.Verb {
	case Stop:
		u.Order, u.WindUp = Stop, 0
	case Move:
		u.Order, u.GoalX, u.GoalY, u.WindUp = Move, c.X, c.Y, 0
	case Attack:
		if target := int32(c.Target - 1); u.Order != Attack || u.Target != target {
			u.Order, u.Target, u.WindUp = Attack, target, 0
		}
	}
}

// loop is one game loop: orders of the map's script, units, blows, collisions, growth.
func (s *simulator) loop() {
	if s.clock.Loop%scriptPeriod == 0 {
		s.trigger()
	}
	s.chance.Perm(s.order)
	for _, i := range s.order {
		if s.units[i].Health > 0 {
			s.act(i)
		}
		if s.firstStrikes {
			s.land()
		}
	}
	s.land()
	s.collide()
	s.grow()
	s.clock.Loop++
}

// trigger is the map's script: every half game second it sends each enemy that has nothing to do against the nearest
// living agent.
//
// DECISION 6: orders stick until the target is dead.
// DECISION 25: an enemy notices that its target is dead when it acts next, not before.
// Reading: if the target dies in the loop before the script's (or the one before that, during the enemy's wind-up), the script
// still finds the enemy busy, and with no agent within scanRange the enemy stands still until the script runs again, 8 loops
// later. The script asks whose queue of orders is empty; whether the game empties it when the target dies or on the unit's own
// turn, and whether the script runs before or after the units, neither data nor recordings tell. If it looked at the targets,
// an enemy would be sent one loop of 1/16 s earlier on average.
func (s *simulator) trigger() {
	for i := s.agents; i < len(s.units); i++ {
		if u := &s.units[i]; u.Health > 0 && u.Order == Stop {
			s.hunt(int32(i), everywhere)
		}
	}
}

// hunt orders unit i to attack the nearest living one of the other side whose edge is within reach of its own; ties go to the
// lower number.
func (s *simulator) hunt(i int32, reach float32) {
	u, nearest, best := &s.units[i], int32(-1), float32(everywhere*everywhere)
	from, to := 0, s.agents
	if !u.Enemy {
		from, to = s.agents, len(s.units)
	}
	for j := from; j < to; j++ {
		x := &s.units[j]
		if x.Health <= 0 {
			continue
		}
		if d := square(u, x); d < best && s.within(u, x, d, reach) {
			nearest, best = int32(j), d
		}
	}
	if nearest >= 0 {
		u.Order, u.Target = Attack, nearest
	}
}

// act lets unit i do what its order says.
func (s *simulator) act(i int32) {
	u := &s.units[i]
	u.Cooldown = max(0, u.Cooldown-1) // DECISION 24: never below 0
	if u.WindUp > 0 {
		s.wind(i, u)
		return
	}
	if u.Order == Attack && s.units[u.Target].Health <= 0 {
		u.Order = Stop
	}
	s.acquire(i, u)
	switch u.Order {
	case Move:
		if s.step(u, u.GoalX, u.GoalY) {
			u.Order = Stop
		}
	case Attack:
		s.engage(i, u)
	}
}

// acquire lets a unit without orders choose a target by itself.
//
// DECISION 7: an idle enemy takes the nearest agent at once.
// DECISION 8: enemies do not call for help, return or flee.
func (s *simulator) acquire(i int32, u *soldier) {
	switch {
	case u.Enemy && s.retarget && u.Order == Attack:
		s.hunt(i, everywhere)
	case u.Order == Stop && (u.Enemy && !s.patient || !u.Enemy && s.defend):
		s.hunt(i, max(scanRange, s.kinds[u.Type].reach))
	}
}

// scanRange is how far an idle unit looks for somebody to attack, in cells.
const scanRange = 5

// everywhere is more than any two units can be apart.
const everywhere = 2 * mapSide

// step moves a unit straight towards a point and reports whether it is there.
//
// DECISION 10: constant speed from the first loop.
// DECISION 11: turning takes no time.
func (s *simulator) step(u *soldier, x, y float32) bool {
	if s.turning && !u.turn(x, y) {
		return false
	}
	dx, dy, speed := x-u.X, y-u.Y, s.kinds[u.Type].speed
	d := length(dx, dy)
	if d <= speed {
		u.X, u.Y = x, y
		return true
	}
	u.X += float32(dx / d * speed)
	u.Y += float32(dy / d * speed)
	return false
}

// square is the squared distance of two centres. Here as elsewhere, conversions forbid the compiler to fuse a product and
// a sum, which would make battles differ between processors.
func square(a, b *soldier) float32 {
	dx, dy := b.X-a.X, b.Y-a.Y
	return float32(dx*dx) + float32(dy*dy)
}

func length(dx, dy float32) float32 { return root(float32(dx*dx) + float32(dy*dy)) }

// within reports whether the edges of two bodies are at most reach apart, given the square of their centres' distance.
//
// DECISION 14: weapon ranges are measured between edges.
func (p *physics) within(a, b *soldier, square, reach float32) bool {
	d := p.kinds[a.Type].radius + p.kinds[b.Type].radius + reach
	return square <= d*d
}

func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// grow lets shields and zerg life grow back.
func (s *simulator) grow() {
	for i := range s.units {
		u := &s.units[i]
		if u.Health <= 0 {
			continue
		}
		k := &s.kinds[u.Type]
		switch {
		case k.shield == 0:
			u.Health = min(k.life, u.Health+s.zergGrowth)
		case s.clock.Loop-u.Hurt >= s.shieldDelay:
			u.Shield = min(k.shield, u.Shield+s.shieldGrowth)
		}
	}
}
