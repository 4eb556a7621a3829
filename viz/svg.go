// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// An SVG names its letters; where the first family is not installed, the next takes its place.
const (
	svgFamily   = "font-family:Liberation Sans;"
	svgFamilies = "font-family:Liberation Sans, Arial, sans-serif;"
)

// svg is a canvas that notes the length of every line of text. A viewer without the named families takes letters of
// another width; given the length, it makes them fit, and no label is cut or runs into the next panel.
type svg struct {
	*vgsvg.Canvas
	lengths []vg.Length // of the texts, in the order in which they are drawn
}

// FillString implements vg.Canvas: it draws a line of text that begins at a point.
func (c *svg) FillString(face font.Face, at vg.Point, text string) {
	c.lengths = append(c.lengths, face.Width(text))
	c.Canvas.FillString(face, at, text)
}

// svg is the drawing as SVG.
func (d drawing) svg() ([]byte, error) {
	c := &svg{Canvas: vgsvg.New(d.width, d.height)}
	d.onPaper(c)
	var b, out bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("drawing the figure: %w", err)
	}
	parts := bytes.Split(b.Bytes(), []byte("<text "))
	if len(parts) != len(c.lengths)+1 {
		return nil, fmt.Errorf("the figure has %d texts, want %d", len(parts)-1, len(c.lengths))
	}
	out.Write(parts[0])
	for i, part := range parts[1:] {
		out.WriteString("<text ")
		if length := c.lengths[i]; length > 0 {
			fmt.Fprintf(&out, `textLength="%.2f" lengthAdjust="spacingAndGlyphs" `, length.Points())
		}
		out.Write(part)
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(svgFamily), []byte(svgFamilies)), nil
}
