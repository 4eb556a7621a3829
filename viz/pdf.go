// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"fmt"
	"image/color"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdf draws letters as shapes. Gonum's own canvas looks bold faces up under a name that it did not give them, and takes
// text for code page 1252, which has neither ε nor −.
type pdf struct{ *vgpdf.Canvas }

// pdf is the drawing as PDF.
func (d drawing) pdf() ([]byte, error) {
	c := pdf{vgpdf.New(d.width, d.height)}
	d.onPaper(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("drawing the figure: %w", err)
	}
	return b.Bytes(), nil
}

// SetColor implements vg.Canvas. A PDF wants colour and opacity apart.
func (c pdf) SetColor(of color.Color) {
	if of != nil {
		of = straight(color.NRGBAModel.Convert(of).(color.NRGBA))
	}
	c.Canvas.SetColor(of)
}

// straight is a colour that is not multiplied by its opacity.
type straight color.NRGBA

// RGBA implements color.Color, but for that.
func (s straight) RGBA() (r, g, b, a uint32) {
	return uint32(s.R) * 0x101, uint32(s.G) * 0x101, uint32(s.B) * 0x101, uint32(s.A) * 0x101
}

// FillString implements vg.Canvas: it draws a line of text that begins at a point.
func (c pdf) FillString(face font.Face, at vg.Point, text string) {
	var buf sfnt.Buffer
	units := fixed.Int26_6(face.Face.UnitsPerEm()) // lengths come in units of the face's own square
	scale := face.Font.Size / vg.Length(units)
	var shapes vg.Path
	for i, letter := range text {
		glyph, err := face.Face.GlyphIndex(&buf, letter)
		if err != nil {
			continue
		}
		segments, err := face.Face.LoadGlyph(&buf, glyph, units, nil)
		if err != nil {
			continue // it has no shape
		}
		left := at.X + face.Width(text[:i])
		trace(&shapes, segments, func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: left + scale*vg.Length(p.X), Y: at.Y - scale*vg.Length(p.Y)} // a face counts downwards
		})
	}
	c.Fill(shapes)
}

// trace adds the shape of one letter.
func trace(path *vg.Path, segments sfnt.Segments, place func(fixed.Point26_6) vg.Point) {
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			path.Move(place(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(place(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(place(s.Args[0]), place(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(place(s.Args[0]), place(s.Args[1]), place(s.Args[2]))
		}
	}
}
