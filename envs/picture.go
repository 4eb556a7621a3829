// SPDX-License-Identifier: Apache-2.0

package envs

// CellPixels is the width and height of a cell in pixels.
const CellPixels = 8

// cellBytes is the length of one tile in Spec.Pixels.
const cellBytes = CellPixels * CellPixels * 3

// RGB renders cells [B,H,W], of any number of agents and environments, into dst [B,8H,8W,3]. Rollouts store cells
// because pixels take a hundred times the memory.
func (s *Spec) RGB(dst []uint8, cells []uint16) {
	paintCells(dst, s.Pixels, cells, s.Obs[1])
}

// paintCells renders rows of width cells, from the top, into dst. pixels [V,8,8,3] holds the tiles.
func paintCells(dst, pixels []uint8, cells []uint16, width int) {
	const across = CellPixels * 3
	for at := 0; at < len(cells); at += width {
		row := cells[at : at+width]
		for y := range CellPixels {
			line := dst[:width*across]
			dst = dst[len(line):]
			for k, cell := range row {
				from := int(cell)*cellBytes + y*across
				*(*[across]uint8)(line[k*across:]) = *(*[across]uint8)(pixels[from:])
			}
		}
	}
}

// Mosaic is a picture made of cells within a rectangle of a scene. It stores cells instead of pixels, because a film
// has thousands of scenes.
type Mosaic struct {
	MinX, MinY, MaxX, MaxY float64
	Columns                int
	Cells                  []uint16 // rows of Columns cells, from the top
	Pixels                 []uint8  // [V,8,8,3] as in Spec
}

// RGB renders the mosaic: [height,width,3].
func (m *Mosaic) RGB() (width, height int, rgb []uint8) {
	rgb = make([]uint8, len(m.Cells)*cellBytes)
	paintCells(rgb, m.Pixels, m.Cells, m.Columns)
	return m.Columns * CellPixels, len(m.Cells) / m.Columns * CellPixels, rgb
}
