// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"cermic/cermiclib/results"
)

// dpi of every bitmap: letters stay crisp on a dense screen, and a figure of 6 inches is 840 pixels wide.
const dpi = 140

// The size of a single figure.
const (
	Width  = 6.2 * vg.Inch
	Height = 3.5 * vg.Inch
)

// Drawing is a figure of one size, in any format.
type Drawing struct {
	width, height vg.Length
	paint         func(draw.Canvas)
}

// Plotted is a plot of a size, with the margins that every format has.
func Plotted(p *plot.Plot, width, height vg.Length) Drawing {
	return Drawing{width, height, func(c draw.Canvas) {
		inner := draw.Crop(c, vg.Points(6), -vg.Points(8), vg.Points(5), -vg.Points(6))
		arranged(p, inner.Size().X, inner.Size().Y).Draw(inner)
	}}
}

// Image is the figure as a bitmap.
func (d Drawing) Image() image.Image {
	c := vgimg.NewWith(vgimg.UseWH(d.width, d.height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	d.paint(draw.New(c))
	return c.Image()
}

// Write draws into a file of the format that its name ends in: .png or .svg. An existing file is replaced only once the
// whole figure is drawn.
func (d Drawing) Write(path string) (err error) {
	var data []byte
	switch filepath.Ext(path) {
	case ".png":
		data, err = PNG(d.Image())
	case ".svg":
		data, err = d.SVG()
	default:
		err = errors.New("a figure's name must end in .png or .svg")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return results.WriteFile(path, data)
}

// PNG encodes an image.
func PNG(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression} // a notebook keeps every picture
	if err := encoder.Encode(&b, m); err != nil {
		return nil, fmt.Errorf("encoding a figure: %w", err)
	}
	return b.Bytes(), nil
}

// WritePNG writes an image to a file.
func WritePNG(path string, m image.Image) error {
	data, err := PNG(m)
	if err != nil {
		return err
	}
	return results.WriteFile(path, data)
}

// An SVG names its letters; where the first family is not installed, the next takes its place.
const (
	svgFamily   = "font-family:Liberation Sans;"
	svgFamilies = "font-family:Liberation Sans, Arial, sans-serif;"
)

// svg is a canvas that records the width of every line of text. A viewer without the named font families substitutes
// letters of another width. Given the recorded width, it fits them, so no label is cut or runs into the next panel.
type svg struct {
	*vgsvg.Canvas
	lengths []vg.Length // of the texts, in the order in which they are drawn
}

// FillString implements vg.Canvas: it draws a line of text that begins at a point.
func (c *svg) FillString(face font.Face, at vg.Point, text string) {
	c.lengths = append(c.lengths, face.Width(text))
	c.Canvas.FillString(face, at, text)
}

// SVG is the figure as SVG, to stand in a page.
func (d Drawing) SVG() ([]byte, error) {
	c := &svg{Canvas: vgsvg.New(d.width, d.height)}
	canvas := draw.New(c)
	canvas.FillPolygon(paper, rectangle(0, 0, d.width, d.height))
	d.paint(canvas)
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

// Panels is a grid of plots in one picture.
type Panels struct {
	Title  string
	Rows   [][]*plot.Plot // rows may differ in length; nil leaves a place empty
	Legend []Style        // looks of lines, explained once above the panels; nil: no legend
	Width  vg.Length      // of one panel; Height likewise
	Height vg.Length
}

// NewPanels breaks plots into rows with this many columns, at a size of which two or three fit beside each other in a
// notebook.
func NewPanels(columns int, plots ...*plot.Plot) Panels {
	return Panels{Rows: slices.Collect(slices.Chunk(plots, columns)), Width: 3.1 * vg.Inch, Height: 2.3 * vg.Inch}
}

// Chart is a figure of curves.
type Chart struct {
	Figure
	Series []Series
}

// CurvePanels are the Curves of charts in rows with this many columns.
func CurvePanels(columns int, charts ...Chart) (Panels, error) {
	var plots []*plot.Plot
	for _, c := range charts {
		p, err := Curves(c.Figure, c.Series...)
		if err != nil {
			return NewPanels(columns), fmt.Errorf("%s: %w", c.Title, err)
		}
		plots = append(plots, p)
	}
	return NewPanels(columns, plots...), nil
}

// MaxWidth is that of the widest figure: 1,098 pixels, which fit a notebook's column.
const MaxWidth = 7.84 * vg.Inch

// Drawing arranges the panels with equal data areas. Panels that together were wider than MaxWidth become narrower.
func (p Panels) Drawing() Drawing {
	columns := 0
	for _, row := range p.Rows {
		columns = max(columns, len(row))
	}
	const margin = 8
	width := min(p.Width*vg.Length(columns)+2*margin, MaxWidth)
	entries := lineEntries(p.Legend)
	head := vg.Length(0)
	if len(entries) > 0 {
		_, _, head = layout(entries, width-2*margin)
	}
	title, above := typeface(13, true), vg.Length(0)
	text := wrapped(title.Width, p.Title, width-2*margin, 2)
	if text != "" {
		title.YAlign = draw.YTop
		above = title.Height(text) + 9.5
	}
	common, differ := commonNote(p.Rows)
	note, foot := wrapped(noteStyle().Width, common, width-2*margin, 3), vg.Length(0)
	if note != "" {
		foot = noteStyle().Height(note) + 5.6
	}
	grid := p.grid(columns, (width-2*margin)/vg.Length(max(columns, 1)), differ)
	height := p.Height*vg.Length(len(grid)) + above + head + foot + 2*margin
	return Drawing{width, height, func(whole draw.Canvas) {
		c := draw.Crop(whole, margin, -margin, margin, -margin)
		c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y}, text)
		drawLegend(draw.Crop(c, 0, 0, 0, -above), entries)
		if len(grid) == 0 || columns == 0 {
			return
		}
		if note != "" {
			c.FillText(noteStyle(), vg.Point{X: c.Center().X, Y: c.Min.Y + 2}, note)
		}
		body := draw.Crop(c, 0, 0, foot, -above-head)
		tiles := draw.Tiles{Rows: len(grid), Cols: columns, PadX: 10, PadY: 10, PadTop: 4}
		for i, row := range plot.Align(grid, tiles, body) {
			for j, at := range row {
				if grid[i][j] != nil {
					grid[i][j].Draw(at)
				}
			}
		}
	}}
}

// grid copies the panels, each arranged in the given width. They keep their notes if notes is set.
func (p Panels) grid(columns int, width vg.Length, notes bool) [][]*plot.Plot {
	grid := make([][]*plot.Plot, len(p.Rows))
	for i, row := range p.Rows {
		grid[i] = make([]*plot.Plot, columns)
		for j, panel := range row {
			if panel == nil {
				continue
			}
			own := *panel
			if !notes {
				setNote(&own, "")
			}
			if _, ok := own.X.Tick.Marker.(ticks); ok && p.Width < 4*vg.Inch {
				own.X.Tick.Marker = ticks{about: 3}
			}
			grid[i][j] = arranged(&own, width, p.Height)
		}
	}
	return grid
}

// commonNote is the note of all panels that have one, empty if theirs differ.
func commonNote(rows [][]*plot.Plot) (common string, differ bool) {
	for _, p := range slices.Concat(rows...) {
		if p == nil {
			continue
		}
		note := noteOf(p)
		if note != "" && common != "" && note != common {
			return "", true
		}
		common = cmp.Or(note, common)
	}
	return common, false
}
