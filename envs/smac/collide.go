// SPDX-License-Identifier: Apache-2.0

package smac

// collide separates overlapping units of one layer, each by half the overlap, in one pass over all pairs, and keeps
// all units on the map.
//
// DECISION 12: bodies are discs. Colossi collide with colossi only. Standing units are pushed like moving ones.
func (s *simulator) collide() {
	for i := range s.units {
		a := &s.units[i]
		if a.Health <= 0 || s.ghosts {
			continue
		}
		for j := i + 1; j < len(s.units); j++ {
			b := &s.units[j]
			if b.Health > 0 && (a.Type == Colossus) == (b.Type == Colossus) {
				s.part(a, b)
			}
		}
	}
	for i := range s.units {
		u := &s.units[i]
		u.X, u.Y = min(max(u.X, 0), edge), min(max(u.Y, 0), edge)
	}
}

// part separates two units if they overlap. Units at the same point separate along x.
func (p *physics) part(a, b *soldier) {
	room, d := p.kinds[a.Type].separation+p.kinds[b.Type].separation, square(a, b)
	if d >= room*room {
		return
	}
	d = root(d)
	dx, dy := float32(1), float32(0)
	if d > 0 {
		dx, dy = (b.X-a.X)/d, (b.Y-a.Y)/d
	}
	half := (room - d) / 2
	dx, dy = float32(dx*half), float32(dy*half)
	a.X, a.Y = a.X-dx, a.Y-dy
	b.X, b.Y = b.X+dx, b.Y+dy
}
