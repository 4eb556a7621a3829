// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs/rng"
)

// Scatter places the bodies order[from:] of copy c one after the other at random in the square |x|, |y| ≤ half, each with
// its centre at least gap away from those of all bodies before it in order. A place that is too near is drawn again, which
// ends soon where crowded allows it.
func (w *World) Scatter(c int, r *rng.Rand, half, gap float32, order []int, from int) {
	for k := from; k < len(order); k++ {
		for {
			p := Vec{r.Uniform(-half, half), r.Uniform(-half, half)}
			if w.isFree(c, p, gap, order[:k]) {
				w.Place(c, order[k], p)
				break
			}
		}
	}
}

// isFree reports whether p is at least gap away from the centres of the given bodies.
func (w *World) isFree(c int, p Vec, gap float32, bodies []int) bool {
	for _, b := range bodies {
		if square(w.Pos(c, b).Sub(p)) < gap*gap {
			return false
		}
	}
	return true
}

// crowded refuses to scatter n bodies over a square in which that would take long; keys names the settings to change.
// Discs dropped at random come to a stop when they cover 0.547 of a plane (Feder 1980); here they may cover 0.4.
func crowded(task, keys string, n int, half, gap float32) error {
	disc, side := math.Pi*float64(gap)*float64(gap)/4, float64(2*half+gap) // discs may stick out by half a gap
	if float64(n)*disc <= 0.4*side*side {
		return nil
	}
	return fmt.Errorf("%s: %d bodies do not fit into a square of side %g with centres %g apart; want less of %s",
		task, n, 2*half, gap, keys)
}

// numbers returns n consecutive body numbers from first on.
func numbers(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}
