// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"

	"cermic/envs/rng"
	"cermic/envs/smac/sc2"
)

// simulator is the built-in Field: the game's rules for six unit types, with the game's own numbers, loop by loop.
// Questions that they leave open are decided here, under the numbers of the list in README.md.
//
// DECISION 23: one named stream per environment drives teams, positions, orders and weapon jitter, so equal seeds
// give equal battles on all processors. Only conic_fov and otherwise=turning use sines and arc tangents, whose last
// bits may differ.
type simulator struct {
	*physics
	agents int
	units  []soldier // [N+M] agents first, in order of creation
	flying []blow    // pending blows, the first Clock.Flying ones, in order of launch
	clock  simClock
	order  []int32 // scratch: the order in which units act
	chance *rng.Rand
	ground *Terrain
}

// simClock holds the simulator's counters.
type simClock struct {
	Loop   int32 // loops since the units were created
	Flying int32
}

// soldier is a unit in the simulator. Fields are exported for encoding only.
type soldier struct {
	X, Y, Health, Shield, Cooldown float32
	GoalX, GoalY                   float32 // of Move
	WindUp                         int32   // loops until the current attack takes effect; 0: no attack
	Hurt                           int32   // loop of the last damage
	Target                         int32   // of Attack
	Type                           Type
	Order                          sc2.Verb // Stop, Move or Attack
	Enemy                          bool
	Facing                         float32 // radians; with limited turning only
}

// Constants of the simulation.
const (
	scriptPeriod = 8     // loops; DECISION 6: the map's script runs every half game second
	settlePasses = 10    // DECISION 13: number of passes that separate created units
	edge         = 31.99 // cells; DECISION 12: no unit leaves the map
)

func newSimulator(k *rules, chance *rng.Rand) *simulator {
	all := k.n + k.m
	s := &simulator{
		physics: newPhysics(k.Otherwise), agents: k.n, units: make([]soldier, all),
		order:  make([]int32, all),
		chance: chance, ground: k.ground,
	}
	// One attack strikes each unit at most twice. Missiles fly for at most a weapon's period. So a unit does not attack
	// again before its last blow has landed, unless it is the only one left.
	s.flying = make([]blow, 2*all*(all+1))
	return s
}

// Deploy creates the units and advances by one loop.
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
	return s.observe(seen, true), nil
}

// Play gives the commands and advances by the loops of a step.
func (s *simulator) Play(orders []Command, seen []Sighting) ([]Sighting, error) {
	for i := range orders {
		s.command(&orders[i])
	}
	for range loopsPerStep {
		s.loop()
	}
	return s.observe(seen, false), nil
}

// Ground is flat and walkable everywhere, except for the alternative to decision 22.
func (s *simulator) Ground() *Terrain { return s.ground }

// observe lists the living units, or all of them. A unit's tag is its number, from 1.
func (s *simulator) observe(seen []Sighting, all bool) []Sighting {
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

// command gives an agent's unit a new order. An attack on the current target changes nothing.
//
// DECISION 15: any other order cancels a wind-up; the weapon stays on cooldown.
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

// loop advances one game loop: orders of the map's script, units, blows, collisions, recovery.
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

// trigger is the map's script: every half game second it orders each idle enemy to attack the nearest living agent.
//
// DECISION 6: orders last until the target is dead.
// DECISION 25: an enemy notices the death of its target when it acts next.
// Reading: if the target dies one loop before the script runs (or two during the enemy's wind-up), the script still
// finds the enemy busy. With no agent within scanRange, the enemy then stands still until the script's next run, 8
// loops later. The script checks for an empty queue of orders. Neither data nor recordings show whether the game
// empties the queue at the target's death or on the unit's turn. They do not show whether the script runs before the
// units, either. If the script checked the targets instead, orders would come one loop of 1/16 s earlier on average.
func (s *simulator) trigger() {
	for i := s.agents; i < len(s.units); i++ {
		if u := &s.units[i]; u.Health > 0 && u.Order == Stop {
			s.hunt(int32(i), everywhere)
		}
	}
}

// hunt orders unit i to attack the nearest living opponent whose edge is within reach of its own. Ties go to the
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

// act executes the order of unit i.
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

// acquire makes a unit without orders choose a target by itself.
//
// DECISION 7: an idle enemy attacks the nearest agent at once.
// DECISION 8: enemies do not call for help, return or flee.
func (s *simulator) acquire(i int32, u *soldier) {
	switch {
	case u.Enemy && s.retarget && u.Order == Attack:
		s.hunt(i, everywhere)
	case u.Order == Stop && (u.Enemy && !s.patient || !u.Enemy && s.defend):
		s.hunt(i, max(scanRange, s.kinds[u.Type].reach))
	}
}

// scanRange is the distance within which idle units acquire targets, in cells.
const scanRange = 5

// everywhere is more than the largest distance on the map.
const everywhere = 2 * mapSide

// step moves a unit straight towards a point and reports whether it has arrived.
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

// square is the squared distance between two centres. Here and elsewhere, conversions keep the compiler from fusing
// products and sums, which would make battles differ between processors.
func square(a, b *soldier) float32 {
	dx, dy := b.X-a.X, b.Y-a.Y
	return float32(dx*dx) + float32(dy*dy)
}

func length(dx, dy float32) float32 { return root(float32(dx*dx) + float32(dy*dy)) }

// within reports whether the edges of two bodies are at most reach apart, given the squared distance between their
// centres.
//
// DECISION 14: weapon ranges are measured between edges.
func (p *physics) within(a, b *soldier, square, reach float32) bool {
	d := p.kinds[a.Type].radius + p.kinds[b.Type].radius + reach
	return square <= d*d
}

func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// grow recovers shields and zerg life.
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
