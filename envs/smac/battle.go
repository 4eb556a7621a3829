// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"cmp"
	"math"
	"slices"
)

// Unit is the observed state of a unit.
type Unit struct {
	Type              Type
	X, Y              float32 // cells
	Health, HealthMax float32 // Health is 0 when dead
	Shield, ShieldMax float32
	Cooldown          float32 // loops until the weapon is ready
}

// strength is a unit's health plus shield, in double precision as in the benchmark's sums.
func (u *Unit) strength() float64 { return float64(u.Health) + float64(u.Shield) }

// Sighting is a row of the game's list of living units, in the game's order.
type Sighting struct {
	Tag   uint64
	Enemy bool
	Unit
}

// randSource supplies random numbers: a stream, or the original's recorded draws.
type randSource interface {
	Perm(dst []int32)
	Float64() float64
}

// battle is the benchmark's view of one episode: the units as last observed, agents first, and which agent found
// which enemy. It does not depend on the engine.
type battle struct {
	*rules
	ground *Terrain
	units  []Unit   // [N+M]; a dead unit keeps its last values, with Health 0
	tags   []uint64 // [N+M]
	before []float64
	fallen []bool // deaths already rewarded

	apart  []float64    // [N,N+M] distance between centres
	mask   []uint8      // [N,K] action masks
	found  []uint8      // [M,N] agent may observe enemy
	finder []int32      // [M] first agent to observe enemy, or −1
	gaze   [][2]float64 // [N] direction of each agent's gaze
	hidden []uint8      // [N,M] health and type of enemy are always hidden
	last   []int32      // [N] last action; −1: none yet
	order  []int32      // [N] scratch: the order in which agents observe

	battleClock
}

// battleClock holds a battle's counters.
type battleClock struct {
	Steps   int32   // of this episode
	Divisor float64 // largest possible team reward; 0: no episode yet
}

func newBattle(k *rules) *battle {
	n, m := k.n, k.m
	return &battle{
		rules: k, ground: k.ground, units: make([]Unit, n+m), tags: make([]uint64, n+m), before: make([]float64, n+m),
		fallen: make([]bool, n+m),
		apart:  make([]float64, n*(n+m)), mask: make([]uint8, n*k.choices), found: make([]uint8, m*n),
		finder: make([]int32, m),
		gaze:   make([][2]float64, n), hidden: make([]uint8, n*m), last: make([]int32, n), order: make([]int32, n),
	}
}

// begin starts an episode with the observation of all units, which it sorts: agents by (type, x, y), then enemies in
// the listed order.
//
// DECISION 1: the simulator lists units in the order of creation.
// DECISION 4: an environment's first enemy team scales all its rewards, unless the settings say otherwise. The
// original also adds up rewards while resetting a slow game; this port does not.
func (b *battle) begin(seen []Sighting) {
	slices.SortStableFunc(seen, func(x, y Sighting) int {
		if x.Enemy || y.Enemy {
			return count(x.Enemy) - count(y.Enemy)
		}
		return cmp.Or(cmp.Compare(x.Type, y.Type), cmp.Compare(x.X, y.X), cmp.Compare(x.Y, y.Y))
	})
	for i := range seen {
		b.units[i], b.tags[i] = seen[i].Unit, seen[i].Tag
	}
	clear(b.found)
	clear(b.fallen)
	for e := range b.finder {
		b.finder[e] = -1
	}
	earn := float64(float64(b.m)*b.RewardDeath) + b.RewardWin
	for i := range b.units {
		u := &b.units[i]
		b.before[i] = u.strength()
		if i >= b.n {
			earn += float64(u.HealthMax) + float64(u.ShieldMax)
		}
	}
	for i := range b.n {
		b.last[i], b.gaze[i] = -1, [2]float64{1, 0}
	}
	b.Steps = 0
	if b.Divisor == 0 || b.MaxReward == PerEpisode {
		b.Divisor = earn
	}
	b.refresh()
}

// update processes an observation: units missing from it have died.
func (b *battle) update(seen []Sighting) {
	for i := range b.units {
		u := &b.units[i]
		if u.Health == 0 {
			continue
		}
		if at := slices.IndexFunc(seen, func(s Sighting) bool { return s.Tag == b.tags[i] }); at >= 0 {
			*u = seen[at].Unit
		} else {
			u.Health = 0
		}
	}
	b.refresh()
}

// refresh recomputes distances and action masks.
func (b *battle) refresh() {
	all := len(b.units)
	for i := range b.n {
		from, row := &b.units[i], b.apart[i*all:(i+1)*all]
		for j := range b.units {
			row[j] = distance(from.X, from.Y, b.units[j].X, b.units[j].Y)
		}
	}
	for i := range b.n {
		b.available(i, b.mask[i*b.choices:(i+1)*b.choices])
	}
}

// distance is the distance between two points in double precision, from correctly rounded products and root.
// Comparisons with integer ranges depend on the last bit.
func distance(ax, ay, bx, by float32) float64 {
	dx, dy := float64(bx)-float64(ax), float64(by)-float64(ay)
	return math.Sqrt(float64(dx*dx) + float64(dy*dy)) // the conversions prevent fused operations
}

// forget drops what dead agents found and who found dead enemies, as the benchmark does between a step and the next
// observation.
func (b *battle) forget() {
	for i := range b.n {
		if b.units[i].Health > 0 {
			continue
		}
		for e, finder := range b.finder {
			if int(finder) == i {
				b.lose(e)
			}
			b.found[e*b.n+i] = 0
		}
	}
	for e := range b.m {
		if b.units[b.n+e].Health == 0 {
			b.lose(e)
		}
	}
}

// lose marks enemy e as not found.
func (b *battle) lose(e int) {
	b.finder[e] = -1
	clear(b.found[e*b.n : (e+1)*b.n])
}

// alive counts living agents and enemies.
func (b *battle) alive() (agents, enemies int) {
	for i := range b.units {
		if b.units[i].Health > 0 {
			if i < b.n {
				agents++
			} else {
				enemies++
			}
		}
	}
	return agents, enemies
}

// step processes the observation after a step and returns the team's reward and the ending.
func (b *battle) step(actions []int32, seen []Sighting) (reward float64, end ending) {
	copy(b.last, actions)
	b.Steps++
	b.turn(actions)
	b.update(seen)
	end = b.ending()
	reward = b.settle(end)
	b.forget()
	return reward, end
}
