// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

var _ envs.Tracker = (*env)(nil)

// Track writes every player's position on the map, in units of relative positions; all players have one type.
func (e *env) Track(dst []float32) {
	for c, g := range e.games {
		b := g.base()
		for i := range b.avatars {
			x, y := b.place(b.avatars[i].cell)
			to := dst[3*(c*len(b.avatars)+i):]
			to[0], to[1], to[2] = float32(x)/relUnit, float32(y)/relUnit, 0
		}
	}
}
