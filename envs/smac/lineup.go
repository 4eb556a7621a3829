// SPDX-License-Identifier: Apache-2.0

package smac

import (
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
