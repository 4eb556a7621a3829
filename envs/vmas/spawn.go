// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs/rng"
)

// Spawn is a body to place at random, with its centre at least Gap away from the centres placed before it.
type Spawn struct {
	Body int
	Gap  float32
}

// spawns lists n consecutive bodies, starting at first.
func spawns(first, n int, gap float32) []Spawn {
	list := make([]Spawn, n)
	for i := range list {
		list[i] = Spawn{first + i, gap}
	}
	return list
}

// Scatter places the bodies order[from:] of environment c one by one, uniformly in |x| ≤ half.X, |y| ≤ half.Y. It
// redraws positions that are too close to an earlier body and, if that fails repeatedly, starts again. It ends
// quickly if crowded returns no error.
func (w *World) Scatter(c int, r *rng.Rand, half Vec, order []Spawn, from int) {
	const tries = 1000
	for k, tried := from, 0; k < len(order); tried++ {
		p := Vec{r.Uniform(-half.X, half.X), r.Uniform(-half.Y, half.Y)}
		if w.isFree(c, p, order[k].Gap, order[:k]) {
			w.Place(c, order[k].Body, p)
			k, tried = k+1, 0
		} else if tried == tries {
			k, tried = from, 0
		}
	}
}

// isFree reports whether p is at least gap away from the centres of the given bodies.
func (w *World) isFree(c int, p Vec, gap float32, bodies []Spawn) bool {
	for _, other := range bodies {
		if square(w.Pos(c, other.Body).Sub(p)) < gap*gap {
			return false
		}
	}
	return true
}

// crowded returns an error if the bodies are too many to scatter quickly; keys names the settings to change. Random
// sequential placement of discs jams at 0.547 of a plane (Feder 1980); the limit here is 0.4. In a narrow field it
// jams at 0.748 of the length (Rényi 1958); the limit is 0.5.
func crowded(task, keys string, half Vec, order []Spawn) error {
	for k, s := range order {
		gap, x, y := float64(s.Gap), float64(2*half.X+s.Gap), float64(2*half.Y+s.Gap) // discs may protrude by half a gap
		tight := float64(k+1)*math.Pi*gap*gap/4 > 0.4*x*y
		if narrow := float64(2 * min(half.X, half.Y)); narrow < gap {
			tight = float64(k+1)*gap > 0.5*max(x, y)
		}
		if tight {
			return fmt.Errorf("%s: %d bodies do not fit into a field of %g by %g with centres %g apart; decrease %s",
				task, len(order), 2*half.X, 2*half.Y, s.Gap, keys)
		}
	}
	return nil
}

// numbers returns n consecutive body numbers, starting at first.
func numbers(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}
