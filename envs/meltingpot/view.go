// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

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

// labels writes which players are in the view of player i, seen [N], and their relative positions, rel [N,2]. Positions
// are ahead and to the right, in units of relUnit.
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

// world is the last picture of environment c's whole map, with its lower left corner at the origin.
func (e *env) world(c int) envs.Mosaic {
	b := e.games[c].base()
	cells := make([]uint16, 0, b.width*b.height)
	for y := range b.height {
		for x := range b.width {
			cells = append(cells, b.palette.table[north][b.code[b.cell(x, y)]])
		}
	}
	return e.mosaic(cells, b.width, 0, 0, 1)
}

// mosaic arranges cells in rows from (x, y), with unit units per pixel.
func (e *env) mosaic(cells []uint16, columns, x, y, unit int) envs.Mosaic {
	width, height := unit*columns*envs.CellPixels, unit*len(cells)/columns*envs.CellPixels
	return envs.Mosaic{
		MinX: float64(x), MinY: float64(y), MaxX: float64(x + width), MaxY: float64(y + height), Columns: columns,
		Cells:  cells,
		Pixels: e.spec.Pixels,
	}
}

// Scene draws environment c: the whole map, and beside it the first player's view as large as fits, with space for a
// caption above. A unit is a pixel of the original.
func (e *env) Scene(c int) envs.Scene {
	const gap, head = envs.CellPixels, 2 * envs.CellPixels
	b, world := e.games[c].base(), e.world(c)
	cells := make([]uint16, e.spec.CellLen())
	b.look(0, cells)
	unit := max(1, b.height/b.view.height())
	margin := (b.height - unit*b.view.height()) / 2 * envs.CellPixels
	view := e.mosaic(cells, b.view.width(), int(world.MaxX)+gap, margin, unit)
	return envs.Scene{MaxX: view.MaxX, MaxY: world.MaxY + head, Mosaics: []envs.Mosaic{world, view}}
}
