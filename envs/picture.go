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
	for at := 0; at < len(cells); at += width {
		row := cells[at : at+width]
		for y := range CellPixels {
			to := dst[:width*across]
			for k, cell := range row {
				from := int(cell)*cellBytes + y*across
				*(*[across]uint8)(to[k*across:]) = *(*[across]uint8)(pixels[from:])
			}
			dst = dst[min(line, len(dst)):]
		}
	}
}

// Picture is a rectangle of pixels.
type Picture struct {
	Width, Height int
	RGB           []uint8 // [Height,Width,3], the upper line first
}

// NewPicture returns a black picture.
func NewPicture(width, height int) *Picture {
	return &Picture{Width: width, Height: height, RGB: make([]uint8, width*height*3)}
}

// Put copies other into p with its upper left corner at (x, y); it must fit.
func (p *Picture) Put(other *Picture, x, y int) {
	line := 3 * other.Width
	for k := range other.Height {
		copy(p.RGB[3*((y+k)*p.Width+x):], other.RGB[k*line:(k+1)*line])
	}
}

// Enlarged returns p with every pixel as a square of that many.
func (p *Picture) Enlarged(times int) *Picture {
	out := NewPicture(p.Width*times, p.Height*times)
	for k := range out.Width * out.Height {
		x, y := k%out.Width/times, k/out.Width/times
		copy(out.RGB[3*k:3*k+3], p.RGB[3*(y*p.Width+x):])
	}
	return out
}
