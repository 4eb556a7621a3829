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

// layout breaks entries into centred rows no wider than width and returns the name and the position of each, relative
// to the top left corner, and the height of all.
func layout(entries []entry, width vg.Length) (names []string, at []vg.Point, height vg.Length) {
	style := typeface(9, false)
	names, at = make([]string, len(entries)), make([]vg.Point, len(entries))
	start, x, y := 0, vg.Length(0), -legendRow/2
	centre := func(end int) {
		for i := start; i < end; i++ {
			at[i].X += (width - (x - legendGap)) / 2
		}
	}
	for i, e := range entries {
		names[i] = fitted(style.Width, e.name, width-legendSample-5)
		w := legendSample + 5 + style.Width(names[i])
		if i > start && x+w > width {
			centre(i)
			start, x, y = i, 0, y-legendRow
		}
		at[i] = vg.Point{X: x, Y: y}
		x += w + legendGap
	}
	centre(len(entries))
	return names, at, legendRow/2 - y
}

// drawLegend draws entries in rows from the top of c downwards.
func drawLegend(c draw.Canvas, entries []entry) {
	style := typeface(9, false)
	style.XAlign = draw.XLeft
	names, at, _ := layout(entries, c.Max.X-c.Min.X)
	for i, e := range entries {
		p := vg.Point{X: c.Min.X + at[i].X, Y: c.Max.Y + at[i].Y}
		box := vg.Rectangle{
			Min: vg.Point{X: p.X, Y: p.Y - 4},
			Max: vg.Point{X: p.X + legendSample, Y: p.Y + 4},
		}
		e.sample(draw.Canvas{Canvas: c.Canvas, Rectangle: box})
		c.FillText(style, vg.Point{X: p.X + legendSample + 5, Y: p.Y}, names[i])
	}
}

// legend implements plot.Plotter: entries between the title and the data, centred on the data.
type legend []entry

// size is that of the rows: the room beside them is for the labels of the vertical axis.
func (l legend) size(p *plot.Plot) (width, height vg.Length) {
	width = max(widthOf(p)-68, 68)
	_, _, height = layout(l, width)
	return width, height
}

// Plot implements plot.Plotter.
func (l legend) Plot(c draw.Canvas, p *plot.Plot) {
	width, height := l.size(p)
	at := vg.Point{X: c.Center().X, Y: c.Max.Y + 6}
	drawLegend(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: at.Sub(vg.Point{X: width / 2}), Max: at.Add(vg.Point{X: width / 2, Y: height})}}, l)
}

// GlyphBoxes implements plot.GlyphBoxer: it makes the plot leave room above the data.
func (l legend) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	if len(l) == 0 {
		return nil
	}
	_, height := l.size(p)
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: height + 6}}}}
}
