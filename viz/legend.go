// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend implements plot.Plotter: names with samples of their looks, between the title and the data, centred on the
// data.
type legend struct {
	styles []Style
	filled bool // samples are bars, else lines
}

// The measures of a legend.
const (
	legendRow    = vg.Length(14) // from line to line
	legendSample = vg.Length(18) // length of a sample
	legendGap    = vg.Length(16) // between entries
)

// layout breaks entries into centred rows: the name and position of each, from the top left corner, and the height.
func (l legend) layout(width vg.Length) (names []string, at []vg.Point, height vg.Length) {
	style := typeface(9, false)
	names, at = make([]string, len(l.styles)), make([]vg.Point, len(l.styles))
	start, x, y := 0, vg.Length(0), -legendRow/2
	centre := func(end int) {
		for i := start; i < end; i++ {
			at[i].X += (width - (x - legendGap)) / 2
		}
	}
	for i, look := range l.styles {
		names[i] = fitted(style.Width, look.Name, width-legendSample-5)
		w := legendSample + 5 + style.Width(names[i])
		if i > start && x+w > width {
			centre(i)
			start, x, y = i, 0, y-legendRow
		}
		at[i] = vg.Point{X: x, Y: y}
		x += w + legendGap
	}
	centre(len(l.styles))
	return names, at, legendRow/2 - y
}

// draw draws the entries in rows from the top of c downwards.
func (l legend) draw(c draw.Canvas) {
	style := typeface(9, false)
	style.XAlign = draw.XLeft
	names, at, _ := l.layout(c.Max.X - c.Min.X)
	for i, look := range l.styles {
		left, y := c.Min.X+at[i].X, c.Max.Y+at[i].Y
		if right := left + legendSample; l.filled {
			c.FillPolygon(look.Color, rectangle(left+4, y-4.5, right-4, y+3.5))
		} else {
			c.StrokeLine2(look.Line(), left, y, right, y)
		}
		c.FillText(style, vg.Point{X: left + legendSample + 5, Y: y}, names[i])
	}
}

// size is that of the rows: the room beside them is for the labels of the vertical axis.
func (l legend) size(p *plot.Plot) (width, height vg.Length) {
	width = max(widthOf(p)-68, 68)
	_, _, height = l.layout(width)
	return width, height
}

func (l legend) Plot(c draw.Canvas, p *plot.Plot) {
	width, height := l.size(p)
	at := vg.Point{X: c.Center().X, Y: c.Max.Y + 6}
	l.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: at.Sub(vg.Point{X: width / 2}), Max: at.Add(vg.Point{X: width / 2, Y: height})}})
}

// GlyphBoxes implements plot.GlyphBoxer: it makes the plot leave room above the data.
func (l legend) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	_, height := l.size(p)
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: height + 6}}}}
}

// endLabels writes the name of each line at its right end, moved apart where they would overlap. Of many lines the
// names stand in a column with a sample of each, in the order of the ends.
type endLabels []lineEnd

// lineEnd is the last value of a line.
type lineEnd struct {
	Style
	value float64
}

// manyLines is the number of lines from which on names need samples, since they are then too far from the ends of their
// lines.
const manyLines = 13

const labelGap = 5 // points between the end of a line and its name

// names are the labels beside the lines; indent is where they begin.
func (l endLabels) names(p *plot.Plot) (names []string, indent vg.Length) {
	for _, end := range l {
		names = append(names, fitted(typeface(9, true).Width, cut(oneLine(end.Name)), 0.45*widthOf(p)))
	}
	if indent = vg.Points(labelGap); len(names) >= manyLines {
		indent += legendSample + 4
	}
	return names, indent
}

func (l endLabels) Plot(c draw.Canvas, p *plot.Plot) {
	if len(l) == 0 {
		return
	}
	_, ty := p.Transforms(&c)
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(a, b lineEnd) int { return cmp.Compare(a.value, b.value) })
	at := make([]float64, len(sorted))
	for k, end := range sorted {
		at[k] = float64(ty(end.value))
	}
	const airy = 1.25 // from line to line, in heights of a letter
	style := typeface(9, true)
	gap := style.Height("Ag") * airy
	if room := (c.Max.Y - c.Min.Y) / vg.Length(len(sorted)); gap > room {
		style.Font.Size *= room / gap
		gap = room
	}
	style.XAlign = draw.XLeft
	spread(at, float64(gap), float64(c.Min.Y+gap/2), float64(c.Max.Y-gap/2))
	names, indent := sorted.names(p)
	for k, end := range sorted {
		y := vg.Length(at[k])
		if len(sorted) >= manyLines {
			left := c.Max.X + vg.Points(labelGap)
			c.StrokeLine2(end.Line(), left, y, left+legendSample, y)
		}
		style.Color = end.Color
		c.FillText(style, vg.Point{X: c.Max.X + indent, Y: y}, names[k])
	}
}

// GlyphBoxes implements plot.GlyphBoxer: it makes the plot leave room for the longest name.
func (l endLabels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	names, indent := l.names(p)
	widest := vg.Length(0)
	for _, name := range names {
		widest = max(widest, typeface(9, true).Width(name))
	}
	if widest == 0 {
		return nil
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: widest + indent + vg.Points(2)}}}}
}

// longestName is the largest number of letters of a name beside a line. Longer names would leave no room for the lines.
const longestName = 30

// cut shortens a name to longestName letters by leaving some out in the middle.
func cut(name string) string {
	r := []rune(name)
	if len(r) <= longestName {
		return name
	}
	const head = 12
	const tail = longestName - head - 1
	end := r[len(r)-tail:]
	if k := slices.Index(end[:tail/2], ' '); k >= 0 {
		end = end[k+1:] // a whole word
	}
	return string(r[:head]) + "…" + string(end)
}

// spread moves ascending positions apart to at least gap, as little as possible, and keeps them in [low, high] if
// they fit. Overlapping neighbours become a block around the mean of its members, which grows until nothing overlaps.
func spread(at []float64, gap, low, high float64) {
	type block struct{ sum, n float64 }
	place := func(b block) float64 { // centre of the block's first label
		half := gap * (b.n - 1) / 2
		centre := min(b.sum/b.n, high-half)
		return max(centre, low+half) - half
	}
	var blocks []block
	for _, y := range at {
		blocks = append(blocks, block{y, 1})
		for n := len(blocks); n > 1; n = len(blocks) {
			a, b := blocks[n-2], blocks[n-1]
			if place(a)+a.n*gap <= place(b) {
				break
			}
			blocks = append(blocks[:n-2], block{a.sum + b.sum, a.n + b.n})
		}
	}
	i := 0
	for _, b := range blocks {
		for k := range int(b.n) {
			at[i] = place(b) + float64(k)*gap
			i++
		}
	}
}
