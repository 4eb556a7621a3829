// SPDX-License-Identifier: Apache-2.0

package vmas

import "cermic/envs"

var _ envs.Coverer = (*env)(nil)

// coverCells is the number of columns and of rows into which the world is cut to count coverage.
const coverCells = 20

// Coverage is where the bodies are that the task is about (WorldSpec.Cover), or where each agent is where it names none: in squares of a
// twentieth of the world, which reaches as far as pictures of it do without a margin. Nothing outside counts.
func (e *env) Coverage() envs.Projection {
	p := envs.Projection{About: "an agent's place", Columns: coverCells, Rows: coverCells}
	if bodies := e.world.spec.Cover; len(bodies) > 0 {
		p.About = "the place of the " + e.world.spec.body(bodies[0]).Name
	}
	return p
}

// Cover writes the square of every agent or, in turn, of the bodies that the task is about.
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

// coverSquare is the number of the square in which p lies, counted from the upper left corner; -1 outside.
func coverSquare(p Vec, half float32) int32 {
	x, y := (p.X/half+1)*(coverCells/2), (1-p.Y/half)*(coverCells/2)
	if !(x >= 0 && x < coverCells && y >= 0 && y < coverCells) {
		return -1
	}
	return int32(y)*coverCells + int32(x)
}
