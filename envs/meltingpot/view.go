// SPDX-License-Identifier: Apache-2.0

package meltingpot

// paint updates code: the ground and the content of every cell.
func (b *board) paint() {
	copy(b.code, b.floor)
	for i := range b.avatars {
		if a := &b.avatars[i]; a.alive {
			b.code[a.cell] = uint16(int(b.code[a.cell]) + b.palette.code(0, i, a.face, int(a.marker), 0))
		}
	}
	for _, cell := range b.lit {
		b.code[cell] += uint16(b.beams[cell])
	}
}

// look writes the view of player i after paint: tile codes [H,W], the farthest row first. A player that is away sees
// black.
func (b *board) look(i int, dst []uint16) {
	a := &b.avatars[i]
	if !a.alive {
		clear(dst)
		return
	}
	v, table := b.view, b.palette.table[a.face]
	ahead, right := b.ahead[a.face], b.ahead[a.face.turned(1)]
	wide := v.width()
	corner := a.cell + int32(v.forward)*ahead - int32(v.left)*right
	for at := 0; at < len(dst); at += wide {
		cell := corner
		row := dst[at : at+wide]
		for k := range row {
			row[k] = table[b.code[cell]]
			cell += right
		}
		corner -= ahead
	}
	self := int(b.code[a.cell]) + (b.players-i)*b.palette.perPlayer
	dst[v.forward*wide+v.left] = table[self]
}

// relUnit is the unit of relative positions, in cells.
//
// Reading: the side of the larger view, where other environments use the half size of the world.
const relUnit = 11

// labels writes which players are in the view of player i, seen [N], and their positions relative to it, ahead and to
// the right in units of relUnit, rel [N,2].
func (b *board) labels(i int, seen []uint8, rel []float32) {
	clear(seen)
	clear(rel)
	a, v := &b.avatars[i], b.view
	if !a.alive {
		return
	}
	x, y := b.place(a.cell)
	for j := range b.avatars {
		o := &b.avatars[j]
		if j == i || !o.alive {
			continue
		}
		ox, oy := b.place(o.cell)
		forward, right := a.face.relative(ox-x, oy-y)
		rel[2*j], rel[2*j+1] = float32(forward)/relUnit, float32(right)/relUnit
		if -v.left <= right && right <= v.right && -v.backward <= forward && forward <= v.forward {
			seen[j] = 1
		}
	}
}

// relative converts a difference of columns and rows to one ahead of, and to the right of, a player that faces f.
func (f facing) relative(dx, dy int) (forward, right int) {
	switch f {
	case north:
		return -dy, dx
	case east:
		return dx, dy
	case south:
		return dy, -dx
	}
	return -dx, -dy
}
