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
	"strings"

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

// Plotted is a plot of a size, with its note below it and the margins that every format has.
func Plotted(p *plot.Plot, width, height vg.Length) Drawing {
	return Drawing{width, height, func(c draw.Canvas) {
		inner := draw.Crop(c, 6, -8, 5, -6)
		p := arranged(p, inner.Size().X, inner.Size().Y)
		if note := annotationOf(p).note; note != "" {
			data := p.DataCanvas(inner)
			middle := data.Center().X
			note = wrapped(noteStyle().Width, note, 1.9*min(middle-inner.Min.X, inner.Max.X-middle), 4)
			c.FillText(noteStyle(), vg.Point{X: middle, Y: inner.Min.Y + 2.1}, note)
			inner = draw.Crop(inner, 0, 0, noteStyle().Height(note)+3.1, 0)
			if p.X.Label.Text == "" {
				inner = draw.Crop(inner, 0, 0, 3.7, 0) // as between a name and the ticks
			}
		}
		p.Draw(inner)
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

// Font families named by an SVG. If the first family is not installed, the next takes its place.
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
	Rows   [][]*plot.Plot // rows may differ in length
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

// CurvePanels are the Curves of charts in rows with this many columns. Lines of unlabelled charts look the same in all
// of them and are named in one legend, where muted lines are the others. One note explains all bands.
func CurvePanels(columns int, charts ...Chart) (Panels, error) {
	var all, shared []Series // shared: one of each label in unlabelled charts
	place := func(s Series) int {
		return slices.IndexFunc(shared, func(o Series) bool { return o.Label == s.Label })
	}
	for _, c := range charts {
		all = append(all, c.Series...)
		for _, s := range c.Series {
			if c.Unlabelled && place(s) < 0 {
				shared = append(shared, s)
			}
		}
	}
	var plots []*plot.Plot
	looks, drawn := looksOf(shared...), make([]bool, len(shared))
	for _, c := range charts {
		own := looksOf(c.Series...)
		for k, s := range c.Series {
			if c.Unlabelled {
				own[k], drawn[place(s)] = looks[place(s)], drawn[place(s)] || len(s.complete()) > 0
			}
		}
		c.Note = cmp.Or(c.Note, bandNote(all))
		p, err := curves(c.Figure, c.Series, own)
		if err != nil {
			return NewPanels(columns), fmt.Errorf("%s: %w", c.Title, err)
		}
		plots = append(plots, p)
	}
	panels := NewPanels(columns, plots...)
	for i, look := range looks {
		if look.Name = cmp.Or(look.Name, "others"); drawn[i] {
			panels.Legend = append(panels.Legend, look)
		}
	}
	return panels, nil
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
	entries, head := legend{styles: p.Legend}, vg.Length(0)
	if len(p.Legend) > 0 {
		_, _, head = entries.layout(width - 2*margin)
	}
	title, above := typeface(13, true), vg.Length(0)
	text := wrapped(title.Width, p.Title, width-2*margin, 2)
	if text != "" {
		title.YAlign = draw.YTop
		above = title.Height(text) + 9.5
	}
	note, foot := wrapped(noteStyle().Width, notesOf(p.Rows), width-2*margin, 3), vg.Length(0)
	if note != "" {
		foot = noteStyle().Height(note) + 5.6
	}
	grid := p.grid(columns, (width-2*margin)/vg.Length(max(columns, 1)))
	height := p.Height*vg.Length(len(grid)) + above + head + foot + 2*margin
	return Drawing{width, height, func(whole draw.Canvas) {
		c := draw.Crop(whole, margin, -margin, margin, -margin)
		c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y}, text)
		entries.draw(draw.Crop(c, 0, 0, 0, -above))
		if len(grid) == 0 || columns == 0 {
			return
		}
		c.FillText(noteStyle(), vg.Point{X: c.Center().X, Y: c.Min.Y + 2}, note)
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

// grid copies the panels, each arranged in the given width.
func (p Panels) grid(columns int, width vg.Length) [][]*plot.Plot {
	grid := make([][]*plot.Plot, len(p.Rows))
	for i, row := range p.Rows {
		grid[i] = make([]*plot.Plot, columns)
		for j, panel := range row {
			own := *panel
			if _, ok := own.X.Tick.Marker.(ticks); ok && p.Width < 4*vg.Inch {
				own.X.Tick.Marker = ticks{about: 3}
			}
			grid[i][j] = arranged(&own, width, p.Height)
		}
	}
	return grid
}

// notesOf are the notes of all panels, each once.
func notesOf(rows [][]*plot.Plot) string {
	var notes []string
	for _, p := range slices.Concat(rows...) {
		if note := annotationOf(p).note; note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, "; ")
}
