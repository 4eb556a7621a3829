// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"cmp"
	"math"
)

// Unit is what one look at the battlefield tells about a unit.
type Unit struct {
	Type              Type
	X, Y              float32 // cells
	Health, HealthMax float32 // Health is 0 when dead
	Shield, ShieldMax float32
	Cooldown          float32 // loops until the weapon is ready
}

// strength is what damage takes away, in double precision as the benchmark adds it up.
func (u *Unit) strength() float64 { return float64(u.Health) + float64(u.Shield) }

// Sighting is one row of the list of living units, in the order in which the game lists them.
type Sighting struct {
	Tag   uint64
	Enemy bool
	Unit
}

// luck is where chance comes from: a stream, or a recording of what the original drew.
type luck interface {
	Perm(dst []int32)
	Float64() float64
}

// battle is what one environment remembers of its episode: the units as last seen, agents first, and who has found whom.
//
// It is the interface of the benchmark and knows nothing of the engine behind it.
type battle struct {
	*rules
	ground *Terrain
	units  []Unit   // [N+M]; a dead unit keeps its last values, with Health 0
	tags   []uint64 // [N+M]
	before []float64
	fallen []bool // deaths that were counted

	apart  []float64    // [N,N+M] distance of centres
	mask   []uint8      // [N,K] what each agent may do now
	found  []uint8      // [M,N] agent may see enemy
	finder []int32      // [M] agent that sees enemy first, or −1
	gaze   [][2]float64 // [N] direction that an agent looks in
	hidden []uint8      // [N,M] health and type of enemy never show
	last   []int32      // [N] last action; −1: none yet
	order  []int32      // [N] scratch: who looks first

	battleClock
}

// battleClock holds a battle's counters.
type battleClock struct {
	Steps   int32   // of this episode
	Divisor float64 // the most that a team can earn; 0: no episode yet
}

func newBattle(k *rules) *battle {
	n, m := k.n, k.m
	return &battle{
		rules: k, ground: k.ground, units: make([]Unit, n+m), tags: make([]uint64, n+m), before: make([]float64, n+m), fallen: make([]bool, n+m),
		apart: make([]float64, n*(n+m)), mask: make([]uint8, n*k.choices), found: make([]uint8, m*n), finder: make([]int32, m),
		gaze: make([][2]float64, n), hidden: make([]uint8, n*m), last: make([]int32, n), order: make([]int32, n),
	}
}

// begin starts an episode with the units of a first look, all of them. Agents are numbered by (type, x, y), enemies as
// listed.
//
// DECISION 1: the simulator lists units in the order of their creation.
// DECISION 4: the first team that an environment meets scales its rewards for ever, unless the settings say otherwise; what the
// package adds up when the game is slow, or reset too early, is not added.
func (b *battle) begin(seen []Sighting) {
	allies, enemies := 0, b.n
	for i := range seen {
		at := &allies
		if seen[i].Enemy {
			at = &enemies
		}
		b.units[*at], b.tags[*at] = seen[i].Unit, seen[i].Tag
		*at++
	}
	b.sortAgents()
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

// sortAgents orders the agents by (type, x, y) by insertion: stable, and without allocating.
func (b *battle) sortAgents() {
	for i := 1; i < b.n; i++ {
		for j := i; j > 0 && byPlace(&b.units[j], &b.units[j-1]) < 0; j-- {
			b.units[j], b.units[j-1] = b.units[j-1], b.units[j]
			b.tags[j], b.tags[j-1] = b.tags[j-1], b.tags[j]
		}
	}
}

func byPlace(a, b *Unit) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y))
}

// update takes in the next look: units that are missing have died.
func (b *battle) update(seen []Sighting) {
	for i := range b.units {
		u := &b.units[i]
		if u.Health == 0 {
			continue
		}
		at := -1
		for j := range seen {
			if seen[j].Tag == b.tags[i] {
				at = j
				break
			}
		}
		if at < 0 {
			u.Health = 0
		} else {
			*u = seen[at].Unit
		}
	}
	b.refresh()
}

// refresh recomputes what follows from where units are: distances and available actions.
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

// distance is that of two points in double precision, with two correctly rounded products under a correctly rounded root:
// comparisons with whole-numbered ranges depend on the last bit.
func distance(ax, ay, bx, by float32) float64 {
	dx, dy := float64(bx)-float64(ax), float64(by)-float64(ay)
	return math.Sqrt(float64(dx*dx) + float64(dy*dy)) // the conversions keep the compiler from fusing
}

// forget drops the finds of the dead, and the finds that are of the dead: what the benchmark does between a step and the
// next look.
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

// lose makes enemy e unfound.
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

// step takes in what happened after actions: the look at the battlefield, the team's reward, and how things stand.
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
