// SPDX-License-Identifier: Apache-2.0

package envs

// CellPixels is the width and height of a cell in pixels.
const CellPixels = 8

// cellBytes is the length of one picture in Spec.Pixels.
const cellBytes = CellPixels * CellPixels * 3

// RGB paints observations of cells [B,H,W], of any number of agents and copies, into dst [B,8H,8W,3]. This is exactly the
// picture that the observation stands for; rollouts keep the cells because they are a hundredth of its size.
func (s *Spec) RGB(dst []uint8, cells []uint16) {
	line := s.Obs[1] * CellPixels * 3 // bytes
	PaintCells(dst, line, s.Pixels, cells, s.Obs[1])
}

// PaintCells paints cells, row by row of width cells each, into dst, whose lines of pixels are line bytes apart. A cell of
// value v looks as picture v of pixels [V,8,8,3].
func PaintCells(dst []uint8, line int, pixels []uint8, cells []uint16, width int) {
	const across = CellPixels * 3
	for k, cell := range cells {
		picture := (*[cellBytes]uint8)(pixels[int(cell)*cellBytes:])
		at := k/width*CellPixels*line + k%width*across
		for y := range CellPixels {
			copy(dst[at:at+across], picture[y*across:(y+1)*across])
			at += line
		}
	}
}
