// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mark names a place on the horizontal axis, or a stretch of it.
type mark struct {
	From, To float64 // To ≤ From: a line at From, else a band between both
	Label    string  // beside a line at its lower end; bands have none
	Agent    int     // a band has the colour of this agent
}

// marks implements plot.Plotter. They lie under the data and do not widen the axis.
type marks []mark

// Plot implements plot.Plotter.
func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	style := typeface(8.5, false)
	style.YAlign = text.YBottom
	for _, k := range m {
		if k.To > k.From {
			if left, right := max(tx(k.From), c.Min.X), min(tx(k.To), c.Max.X); left < right {
				c.FillPolygon(fade(agentColor(k.Agent), 0x38), rectangle(left, c.Min.Y, right, c.Max.Y))
			}
			continue
		}
		if !(k.From >= p.X.Min && k.From <= p.X.Max) {
			continue
		}
		x := tx(k.From)
		label := fitted(style.Width, k.Label, max(x-c.Min.X, c.Max.X-x)-3)
		c.StrokeLine2(draw.LineStyle{Color: grey, Width: vg.Points(0.9), Dashes: dashed}, x, c.Min.Y, x, c.Max.Y)
		style.XAlign = text.XLeft
		at := x + 3
		if at+style.Width(label) > c.Max.X {
			style.XAlign, at = text.XRight, x-3
		}
		c.FillText(style, vg.Point{X: at, Y: c.Min.Y + 2}, label)
	}
}
