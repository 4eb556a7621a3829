// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"slices"

	"cermic/envs/rng"
)

// Lineup is the start of an episode: unit types and positions, of agents first, then of enemies.
type Lineup struct {
	Agents int
	Types  []Type       // [N+M]
	At     [][2]float32 // [N+M] cells
}

// newLineup allocates a lineup.
func newLineup(k *rules) *Lineup {
	return &Lineup{Agents: k.n, Types: make([]Type, k.n+k.m), At: make([][2]float32, k.n+k.m)}
}

// draw samples teams and positions.
//
// From: oxwhirl/smacv2, smacv2/env/starcraft2/distributions.py, 577ab5a
func (l *Lineup) draw(k *rules, r *rng.Rand) {
	n := l.Agents
	k.race.team(l.Types[:n], r)
	// The enemies are the same team; a larger one gets further units.
	if same := copy(l.Types[n:], l.Types[:n]); same < k.m {
		k.race.team(l.Types[n+same:], r)
	}
	if r.Float64() > 0.5 {
		l.surround(r)
	} else {
		l.reflect(r)
	}
}

// team samples types by weight and redraws a team of types that cannot win alone. The draws are independent, so
// shuffling is unnecessary.
func (r *race) team(dst []Type, chance *rng.Rand) {
	for {
		alone := true
		for i := range dst {
			dst[i] = r.one(chance.Float64())
			alone = alone && slices.Contains(r.never, dst[i])
		}
		if !alone {
			return
		}
	}
}

// one maps a number in [0, 1) to a type.
func (r *race) one(u float64) Type {
	last := len(r.types) - 1
	for i, w := range r.weights[:last] {
		if u -= w; u < 0 {
			return r.types[i]
		}
	}
	return r.types[last]
}

// reflect places the agents in the left half and mirrors their counterparts to the right half.
func (l *Lineup) reflect(r *rng.Rand) {
	n := l.Agents
	for i := range l.At {
		switch {
		case i < n:
			l.At[i] = [2]float32{r.Uniform(0, mapSide/2-1), r.Uniform(0, mapSide)}
		case i < 2*n:
			l.At[i] = [2]float32{mapSide - l.At[i-n][0], l.At[i-n][1]}
		default: // enemies without a counterpart
			l.At[i] = [2]float32{r.Uniform(mapSide/2, mapSide), r.Uniform(0, mapSide)}
		}
	}
}

// diagonal is a line from near the centre to a corner.
type diagonal struct{ near, corner [2]float32 }

// at is the point at fraction t of the way from the corner. Products are rounded before they are added: see square.
func (d *diagonal) at(t float32) [2]float32 {
	return [2]float32{
		float32(t*d.near[0]) + float32((1-t)*d.corner[0]),
		float32(t*d.near[1]) + float32((1-t)*d.corner[1]),
	}
}

// diagonals are the four lines on which enemies surround the agents.
var diagonals = [4]diagonal{
	{[2]float32{14, 14}, [2]float32{0, 0}},
	{[2]float32{14, 18}, [2]float32{0, mapSide}},
	{[2]float32{18, 18}, [2]float32{mapSide, mapSide}},
	{[2]float32{18, 14}, [2]float32{mapSide, 0}},
}

// surround places all agents at the centre and one to four groups of enemies (some possibly empty) on separate
// diagonals. Groups take enemies in blocks.
func (l *Lineup) surround(r *rng.Rand) {
	for i := range l.Agents {
		l.At[i] = [2]float32{mapSide / 2, mapSide / 2}
	}
	groups := 1 + r.IntN(len(diagonals))
	var size [len(diagonals)]int
	for range l.At[l.Agents:] {
		size[r.IntN(groups)]++
	}
	var lines [len(diagonals)]int32
	r.Perm(lines[:])
	i := l.Agents
	for g := range groups {
		place := diagonals[lines[g]].at(r.Float32())
		for range size[g] {
			l.At[i] = place
			i++
		}
	}
}

// Type is a unit type, in the order of the type numbers that the map gives to the agents' units. This is also the
// order of the agents.
type Type uint8

// The unit types of the two tasks.
const (
	Baneling Type = iota
	Colossus
	Hydralisk
	Stalker
	Zealot
	Zergling
	typeCount
)

// String returns the type's name in the game.
func (t Type) String() string { return kinds[t].name }

// kind is the game's data of a type and the constants of the benchmark's interface. Distances are in map cells, times
// in game loops (16 per game second).
type kind struct {
	name   string
	stock  uint32 // type number of an enemy
	offset uint32 // of the agents' type number from the map's first one

	// The game's data, build 4.10.0.75689, Wings of Liberty base data.
	life, shield, armour float32
	armoured, light      bool
	speed                float32 // cells per loop
	damage               float32 // of one hit, before armour
	hits                 int     // per attack
	versusArmoured       float32 // bonus damage to armoured units
	versusLight          float32
	period               float32 // loops between two attacks, before the random part
	reach                float32 // weapon range between the edges of the two bodies
	slop                 float32 // extension of the range during the wind-up
	windUp               int32   // loops from the start of an attack to its effect
	missile              float32 // cells per loop; 0: no missile
	radius               float32 // of the body, for ranges
	separation           float32 // of the body, for collisions

	// Constants of the benchmark's interface. From: oxwhirl/smacv2, smacv2/env/starcraft2/starcraft2.py, 577ab5a
	sight       float64
	shoot       float64 // before min_attack_range
	maxCooldown float64 // normalises the state; stalker and colossus are swapped, as in the original
	maxShield   float64 // normalises shields
}

// gameSecond is the number of loops in a second of the game's data.
const gameSecond = 16

// perSecond converts a rate per game second to one per loop.
func perSecond(x float64) float32 { return float32(x / gameSecond) }

// loops converts game seconds to loops.
func loops(seconds float64) float32 { return float32(seconds * gameSecond) }

// delay converts game seconds to a whole number of loops.
func delay(seconds float64) int32 { return int32(math.Round(seconds * gameSecond)) }

var kinds = [typeCount]kind{
	Baneling: {
		name: "baneling", stock: 9, offset: 0, life: 30, speed: perSecond(2.5),
		damage: 20, hits: 1, versusLight: 15, period: loops(0.833), reach: 0.25, slop: 1, radius: 0.375, separation: 0.375,
		sight: 8, shoot: 0.25, maxCooldown: 1,
	},
	Colossus: {
		name: "colossus", stock: 4, offset: 1, life: 200, shield: 150, armour: 1, armoured: true, speed: perSecond(2.25),
		damage: 20, hits: 2, period: loops(2.2), reach: 6, windUp: delay(0.0832), radius: 1, separation: 0.75,
		sight: 10, shoot: 7, maxCooldown: 24, maxShield: 150,
	},
	Hydralisk: {
		name: "hydralisk", stock: 107, offset: 2, life: 80, light: true, speed: perSecond(2.25),
		damage: 12, hits: 1, period: loops(0.83), reach: 5, slop: 1, windUp: delay(0.208), missile: perSecond(40),
		radius: 0.625, separation: 0.5, sight: 9, shoot: 5, maxCooldown: 10,
	},
	Stalker: {
		name: "stalker", stock: 74, offset: 6, life: 80, shield: 80, armour: 1, armoured: true, speed: perSecond(2.9531),
		damage: 10, hits: 1, versusArmoured: 4, period: loops(1.44), reach: 6, slop: 1, windUp: delay(0.167),
		missile: perSecond(18.75), radius: 0.625, separation: 0.625, sight: 10, shoot: 6, maxCooldown: 35, maxShield: 80,
	},
	Zealot: {
		name: "zealot", stock: 73, offset: 7, life: 100, shield: 50, armour: 1, light: true, speed: perSecond(2.25),
		damage: 8, hits: 2, period: loops(1.2), reach: 0.1, slop: 1, radius: 0.5, separation: 0.375,
		sight: 9, shoot: 0.1, maxCooldown: 22, maxShield: 50,
	},
	Zergling: {
		name: "zergling", stock: 105, offset: 8, life: 35, light: true, speed: perSecond(2.9531),
		damage: 5, hits: 1, period: loops(0.696), reach: 0.1, slop: 1, windUp: delay(0.167), radius: 0.375, separation: 0.375,
		sight: 8, shoot: 0.1, maxCooldown: 11,
	},
}

// race is the part in which the two tasks differ.
type race struct {
	name    string
	types   []Type    // in the order of one-hot vectors
	weights []float64 // probability of each type
	never   []Type    // a team of these types alone is redrawn
	shields bool
}

// From: oxwhirl/smacv2, smacv2/examples/configs/sc2_gen_{protoss,zerg}.yaml, 577ab5a
var (
	protossRace = race{
		name: "protoss", types: []Type{Stalker, Zealot, Colossus}, weights: []float64{0.45, 0.45, 0.1}, shields: true,
	}
	zergRace = race{
		name: "zerg", types: []Type{Zergling, Hydralisk, Baneling}, weights: []float64{0.45, 0.45, 0.1},
		never: []Type{Baneling},
	}
)
