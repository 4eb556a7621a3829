// SPDX-License-Identifier: Apache-2.0

package vmas

import "cermic/envs"

var _ envs.Tracker = (*env)(nil)

// Track writes every agent's position, in world half sizes, and its team, because agents of a team have the same
// body.
func (e *env) Track(dst []float32) {
	w, n := e.world, len(e.policy)
	scale := 1 / w.spec.HalfSize
	for row := range e.spec.NumEnvs * n {
		pos := w.Pos(row/n, w.Agent(e.policy[row%n]))
		dst[3*row], dst[3*row+1], dst[3*row+2] = pos.X*scale, pos.Y*scale, float32(e.spec.Teams[row%n])
	}
}
