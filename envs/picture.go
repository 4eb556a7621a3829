// SPDX-License-Identifier: Apache-2.0

package envs

// CellPixels is the width and height of a cell in pixels.
const CellPixels = 8

// cellBytes is the length of one picture in Spec.Pixels.
const cellBytes = CellPixels * CellPixels * 3

// RGB paints observations of cells [B,H,W], of any number of agents and environments, into dst [B,8H,8W,3]. This is exactly the
// picture that the observation stands for; rollouts keep the cells because they are a hundredth of its size.
func (s *Spec) RGB(dst []uint8, cells []uint16) {
	paintCells(dst, s.Pixels, cells, s.Obs[1])
}

// paintCells paints rows of width cells, the uppermost first, into dst. A cell of value v looks as picture v of pixels
// [V,8,8,3].
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

// Mosaic is a picture made of cells, laid over a rectangle of a scene. It keeps cells, not pixels, because a film holds
// thousands of scenes.
type Mosaic struct {
	MinX, MinY, MaxX, MaxY float64
	Columns                int
	Cells                  []uint16 // rows of Columns cells, the uppermost first
	Pixels                 []uint8  // [V,8,8,3] as in Spec
}

// RGB paints the mosaic: height lines of width pixels, [height,width,3].
func (m *Mosaic) RGB() (width, height int, rgb []uint8) {
	rgb = make([]uint8, len(m.Cells)*cellBytes)
	paintCells(rgb, m.Pixels, m.Cells, m.Columns)
	return m.Columns * CellPixels, len(m.Cells) / m.Columns * CellPixels, rgb
}
