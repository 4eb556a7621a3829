// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math"
	"sync"

	"cermic/envs"
)

// unsolvable marks states without a successful plan.
const unsolvable = math.MaxUint16

// largest limits the joint states of a grid, so that planning takes about a second.
const largest = 1 << 21

// plans caches the shortest plans of all grids of this program, because evaluations build the tasks again.
var plans sync.Map // of string to []uint16

// build computes the data derived from the map and makes the environment; size names the settings that define the map.
func (g *grid) build(cfg envs.Config, tv TV, size string, seed uint64, workers int) (envs.Env, error) {
	cells, key := g.w*g.h, cfg.Kind()+" with "+size
	if n := g.stages() * cells * cells; n > largest {
		return nil, fmt.Errorf("%s has %d joint states, want at most %d: reduce its size", key, n, largest)
	}
	g.next = make([]int32, cells*len(moves))
	for cell := range cells {
		for k, m := range moves {
			x, y := cell%g.w+m[0], cell/g.w+m[1]
			to := int32(cell)
			if x >= 0 && y >= 0 && x < g.w && y < g.h && !g.wall[g.at(x, y)] {
				to = g.at(x, y)
			}
			g.next[cell*len(moves)+k] = to
		}
	}
	if known, ok := plans.Load(key); ok {
		g.left = known.([]uint16)
	} else {
		g.plan()
		plans.Store(key, g.left)
	}
	for _, a := range g.start {
		for _, b := range g.start {
			g.far = max(g.far, float32(g.steps([]int32{a, b, 0, 0})))
		}
	}
	if int(g.far) > g.horizon {
		return nil, fmt.Errorf("%s needs up to %d steps from a start; set max_steps to at least as many",
			key, int(g.far))
	}
	return newEnv(cfg, tv, g, seed, workers), nil
}

// index is the index of s in left.
func (g *grid) index(s []int32) int {
	cells := g.w * g.h
	return (int(s[gridStage])*cells+int(s[0]))*cells + int(s[1])
}

// steps is the length of a shortest plan from s to success.
func (g *grid) steps(s []int32) uint16 { return g.left[g.index(s)] }

// plan computes the shortest plans of all joint states, by breadth-first search backwards from success. All moves are
// reversible except opening doors, so it repeats until nothing changes.
func (g *grid) plan() {
	cells := g.w * g.h
	g.left = make([]uint16, g.stages()*cells*cells)
	for k := range g.left {
		g.left[k] = unsolvable
	}
	before, reached := g.predecessors()
	var wave []int32
	for k := range g.left {
		if s := g.state(k); !g.wall[s[0]] && !g.wall[s[1]] && g.done(s[:]) {
			g.left[k] = 0
			wave = append(wave, int32(k))
		}
	}
	for n := uint16(1); len(wave) > 0; n++ {
		var next []int32
		for _, k := range wave {
			for _, from := range before[reached[k]:reached[k+1]] {
				if g.left[from] == unsolvable {
					g.left[from] = n
					next = append(next, from)
				}
			}
		}
		wave = next
	}
}

// state is the inverse of index.
func (g *grid) state(k int) (s [gridWords]int32) {
	cells := g.w * g.h
	s[gridStage], s[0], s[1] = int32(k/cells/cells), int32(k/cells%cells), int32(k%cells)
	return s
}

// predecessors lists the states from which one step leads to a joint state: of state k, list[at[k]:at[k+1]].
func (g *grid) predecessors() (list, at []int32) {
	at = make([]int32, len(g.left)+1)
	g.transitions(func(_, to int) { at[to+1]++ })
	for k := range g.left {
		at[k+1] += at[k]
	}
	list = make([]int32, at[len(g.left)])
	fill := append([]int32(nil), at...)
	g.transitions(func(from, to int) {
		list[fill[to]] = int32(from)
		fill[to]++
	})
	return list, at
}

// transitions visits every step of the two agents from every joint state.
func (g *grid) transitions(visit func(from, to int)) {
	for k := range g.left {
		s := g.state(k)
		if g.wall[s[0]] || g.wall[s[1]] {
			continue
		}
		for a := range int32(len(moves)) {
			for b := range int32(len(moves)) {
				to := s
				g.advance(to[:], a, b)
				visit(k, g.index(to[:]))
			}
		}
	}
}
