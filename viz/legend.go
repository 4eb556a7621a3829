// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is one name of a legend with its sample, drawn into a box.
type entry struct {
	name   string
	sample func(c draw.Canvas)
}

// lineEntries are the samples of labelled lines.
func lineEntries(styles []Style) []entry {
	out := make([]entry, len(styles))
	for i, style := range styles {
		out[i] = entry{style.Name, func(c draw.Canvas) {
			c.StrokeLine2(style.Line(), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		}}
	}
	return out
}

// The measures of a legend.
const (
	legendRow    = vg.Length(14) // from line to line
	legendSample = vg.Length(18) // length of a sample
	legendGap    = vg.Length(16) // between entries
)

// layout breaks entries into centred rows no wider than width and returns the position of each, relative to the top
// left corner, and the height of all.
func layout(entries []entry, width vg.Length) (at []vg.Point, height vg.Length) {
	style := typeface(9, false)
	at = make([]vg.Point, len(entries))
	start, x, y := 0, vg.Length(0), -legendRow/2
	centre := func(end int) {
		for i := start; i < end; i++ {
			at[i].X += (width - (x - legendGap)) / 2
		}
	}
	for i, e := range entries {
		w := legendSample + 5 + style.Width(e.name)
		if i > start && x+w > width {
			centre(i)
			start, x, y = i, 0, y-legendRow
		}
		at[i] = vg.Point{X: x, Y: y}
		x += w + legendGap
	}
	centre(len(entries))
	return at, legendRow/2 - y
}

// drawLegend draws entries in rows from the top of c downwards.
func drawLegend(c draw.Canvas, entries []entry) {
	style := typeface(9, false)
	style.XAlign = draw.XLeft
	at, _ := layout(entries, c.Max.X-c.Min.X)
	for i, e := range entries {
		p := vg.Point{X: c.Min.X + at[i].X, Y: c.Max.Y + at[i].Y}
		box := vg.Rectangle{
			Min: vg.Point{X: p.X, Y: p.Y - 4},
			Max: vg.Point{X: p.X + legendSample, Y: p.Y + 4},
		}
		e.sample(draw.Canvas{Canvas: c.Canvas, Rectangle: box})
		c.FillText(style, vg.Point{X: p.X + legendSample + 5, Y: p.Y}, e.name)
	}
}

// header is the title and the legend above the data of a plot, centred on the data. It is a plotter, because a plot
// leaves room for the glyph boxes of its plotters; the room is reckoned for a figure of the usual width.
type header struct {
	title  string
	legend []entry
}

const titleRow = vg.Length(20)

// Plot implements plot.Plotter.
func (h header) Plot(c draw.Canvas, _ *plot.Plot) {
	bottom := c.Max.Y + 6
	if len(h.legend) > 0 {
		_, height := layout(h.legend, c.Max.X-c.Min.X)
		bottom += height
		drawLegend(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: c.Min.X, Y: bottom - height},
			Max: vg.Point{X: c.Max.X, Y: bottom},
		}}, h.legend)
	}
	style := typeface(11, true)
	style.YAlign = draw.YBottom
	c.FillText(style, vg.Point{X: c.Center().X, Y: bottom + 2}, h.title)
}

// GlyphBoxes implements plot.GlyphBoxer.
func (h header) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	height := vg.Length(0)
	if len(h.legend) > 0 {
		_, height = layout(h.legend, Width*0.85)
		height += 6
	}
	if h.title != "" {
		height += titleRow
	}
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: height}}}}
}
