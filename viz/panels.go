// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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

// MaxWidth is that of the widest figure: 1,098 pixels, which fit a notebook's column.
const MaxWidth = 7.84 * vg.Inch

// layout arranges the panels in one drawing. Panels that together were wider than MaxWidth become narrower.
func (p Panels) layout() drawing {
	columns := 0
	for _, row := range p.Rows {
		columns = max(columns, len(row))
	}
	grid := make([][]*plot.Plot, len(p.Rows))
	for i, row := range p.Rows {
		grid[i] = make([]*plot.Plot, columns)
		for j, plot := range row {
			if plot != nil {
				own := *plot
				grid[i][j] = &own
			}
		}
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
	note, foot := wrapped(noteStyle().Width, commonNote(grid), width-2*margin, 3), vg.Length(0)
	if note != "" {
		foot = noteStyle().Height(note) + 5.6
	}
	for _, row := range grid {
		for j, plot := range row {
			if plot != nil {
				if _, ok := plot.X.Tick.Marker.(ticks); ok && p.Width < 4*vg.Inch {
					plot.X.Tick.Marker = ticks{about: 3}
				}
				row[j] = arranged(plot, (width-2*margin)/vg.Length(columns), p.Height)
			}
		}
	}
	height := p.Height*vg.Length(len(grid)) + above + head + foot + 2*margin
	return drawing{width, height, func(whole draw.Canvas) {
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

// commonNote takes the note of the panels away from them, if all that have one have the same.
func commonNote(grid [][]*plot.Plot) (common string) {
	plots := slices.DeleteFunc(slices.Concat(grid...), func(p *plot.Plot) bool { return p == nil })
	for _, p := range plots {
		note := noteOf(p)
		if note != "" && common != "" && note != common {
			return ""
		}
		common = cmp.Or(note, common)
	}
	for _, p := range plots {
		setNote(p, "")
	}
	return common
}
