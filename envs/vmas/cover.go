// SPDX-License-Identifier: Apache-2.0

package vmas

import "cermic/envs"

var _ envs.Coverer = (*env)(nil)

// coverCells is the number of columns and rows of the grid that measures coverage.
const coverCells = 20

// Coverage describes a grid of 20 × 20 squares over the world's half size. It counts the squares visited by the
// bodies in WorldSpec.Cover or, if there are none, by each agent. Positions outside the grid do not count.
func (e *env) Coverage() envs.Projection {
	p := envs.Projection{About: "an agent's place", Columns: coverCells, Rows: coverCells}
	if bodies := e.world.spec.Cover; len(bodies) > 0 {
		p.About = "the place of the " + e.world.spec.body(bodies[0]).Name
	}
	return p
}

// Cover writes the square of every agent, or of the bodies in WorldSpec.Cover by turns.
func (e *env) Cover(dst []int32) {
	w, n := e.world, len(e.policy)
	for row := range e.spec.NumEnvs * n {
		body := w.Agent(e.policy[row%n])
		if k := len(w.spec.Cover); k > 0 {
			body = w.spec.Cover[row%n%k]
		}
		dst[row] = coverSquare(w.Pos(row/n, body), w.spec.HalfSize)
	}
}

// coverSquare is the index of the square that contains p, row by row from the upper left corner; -1 outside.
func coverSquare(p Vec, half float32) int32 {
	x, y := (p.X/half+1)*(coverCells/2), (1-p.Y/half)*(coverCells/2)
	if !(x >= 0 && x < coverCells && y >= 0 && y < coverCells) {
		return -1
	}
	return int32(y)*coverCells + int32(x)
}
