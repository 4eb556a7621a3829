// SPDX-License-Identifier: Apache-2.0

package smac

import "cermic/envs"

var _ envs.Tracker = (*env)(nil)

// Track writes the position of every agent's unit, in half sides of the map, and its type.
func (e *env) Track(dst []float32) {
	for c := range e.arenas {
		b := e.arenas[c].battle
		for i := range b.n {
			u, to := &b.units[i], dst[3*(c*b.n+i):]
			to[0], to[1], to[2] = u.X/(mapSide/2), u.Y/(mapSide/2), float32(u.Type)
		}
	}
}
