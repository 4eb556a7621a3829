// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

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
