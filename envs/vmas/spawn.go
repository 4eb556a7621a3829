// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs/rng"
)

// Spawn is a body to be placed at random, with its centre at least Gap away from those of the bodies placed before it.
type Spawn struct {
	Body int
	Gap  float32
}

// spawns lists n consecutive bodies from first on.
func spawns(first, n int, gap float32) []Spawn {
	list := make([]Spawn, n)
	for i := range list {
		list[i] = Spawn{first + i, gap}
	}
	return list
}

// Scatter places the bodies order[from:] of copy c one after the other, uniformly in the square |x|, |y| ≤ half. A place
// that is too near to a body before it in order is drawn again; when that does not help, all start again. It ends soon
// where crowded allows it.
func (w *World) Scatter(c int, r *rng.Rand, half float32, order []Spawn, from int) {
	const tries = 1000
	for k, tried := from, 0; k < len(order); tried++ {
		p := Vec{r.Uniform(-half, half), r.Uniform(-half, half)}
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

// crowded refuses to scatter bodies over a square in which that would take long; keys names the settings to change.
// Discs dropped at random come to a stop when they cover 0.547 of a plane (Feder 1980); here they may cover 0.4.
func crowded(task, keys string, half float32, order []Spawn) error {
	for k, s := range order {
		disc, side := math.Pi*float64(s.Gap)*float64(s.Gap)/4, float64(2*half+s.Gap) // discs may stick out by half a gap
		if float64(k+1)*disc > 0.4*side*side {
			return fmt.Errorf("%s: %d bodies do not fit into a square of side %g with centres %g apart; want less of %s",
				task, len(order), 2*half, s.Gap, keys)
		}
	}
	return nil
}

// numbers returns n consecutive body numbers from first on.
func numbers(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}
