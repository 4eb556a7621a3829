// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

// world is the picture of all of copy c as it was shown last.
func (e *env) world(c int) *envs.Picture {
	b := e.games[c].base()
	cells := make([]uint16, 0, b.width*b.height)
	for y := range b.height {
		for x := range b.width {
			cells = append(cells, b.palette.table[north][b.code[b.cell(x, y)]])
		}
	}
	return e.picture(cells, b.width)
}

// picture paints cells in rows of the given width.
func (e *env) picture(cells []uint16, width int) *envs.Picture {
	p := envs.NewPicture(width*envs.CellPixels, len(cells)/width*envs.CellPixels)
	envs.PaintCells(p.RGB, 3*p.Width, e.spec.Pixels, cells, width)
	return p
}

// Scene shows copy c as it was shown last: the world, and beside it what the first player sees, as large as fits. Above them
// is room for a caption.
func (e *env) Scene(c int) envs.Scene {
	const gap, head = envs.CellPixels, 2 * envs.CellPixels
	b, world := e.games[c].base(), e.world(c)
	cells := make([]uint16, e.spec.CellLen())
	b.look(0, cells)
	view := e.picture(cells, b.view.width())
	view = view.Enlarged(max(1, world.Height/view.Height))
	all := envs.NewPicture(world.Width+gap+view.Width, head+world.Height)
	for k := range all.RGB {
		all.RGB[k] = 255
	}
	all.Put(world, 0, head)
	all.Put(view, world.Width+gap, head+(world.Height-view.Height)/2)
	return envs.Scene{MaxX: float64(all.Width), MaxY: float64(all.Height), Picture: all}
}
