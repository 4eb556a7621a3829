// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Forest draws one row a bar, from top to bottom in their order: its name at the left, its value as a dot on its
// interval. The first one is what the others are compared with: its interval goes through all rows as a band, and dots
// whose own interval leaves that band out are filled. f.Note names the kind of interval.
func Forest(f Figure, rows ...Bar) (*plot.Plot, error) {
	for _, row := range rows {
		if v := []float64{row.Value, row.Low, row.High}; slices.ContainsFunc(v, undrawable) || slices.ContainsFunc(v, math.IsNaN) {
			return nil, fmt.Errorf("row %q is %g from %g to %g, want numbers", row.Label, row.Value, row.Low, row.High)
		}
	}
	p := newPlot(f)
	names := make(nameTicks, len(rows)) // the first at the top
	for i, row := range rows {
		names[i] = plot.Tick{Value: float64(len(rows) - 1 - i), Label: row.Label}
	}
	p.Y.Tick.Marker = names
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	p.Add(forest(rows))
	setNote(p, f.Note)
	return p, nil
}

// forest implements plot.Plotter. Row i lies at y = rows − 1 − i.
type forest []Bar

// DataRange implements plot.DataRanger.
func (f forest) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax = math.Inf(1), math.Inf(-1)
	for _, row := range f {
		xmin, xmax = min(xmin, row.Low, row.Value), max(xmax, row.High, row.Value)
	}
	xmin, xmax = limits(xmin, xmax)
	margin := (xmax - xmin) * 0.05
	return xmin - margin, xmax + margin, -0.7, float64(len(f)) - 0.3
}

// Plot implements plot.Plotter.
func (f forest) Plot(c draw.Canvas, p *plot.Plot) {
	if len(f) == 0 {
		return
	}
	tx, ty := p.Transforms(&c)
	base := f[0]
	c.FillPolygon(fade(blue, 0x22), rectangle(tx(base.Low), c.Min.Y, tx(base.High), c.Max.Y))
	c.StrokeLine2(draw.LineStyle{Color: fade(blue, 0x90), Width: vg.Points(0.8)}, tx(base.Value), c.Min.Y, tx(base.Value), c.Max.Y)
	for i, row := range f {
		y := ty(float64(len(f) - 1 - i))
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Points(1.1)}, tx(row.Low), y, tx(row.High), y)
		dot := ring(vg.Point{X: tx(row.Value), Y: y}, 3)
		fill := paper
		if row.Low > base.High || row.High < base.Low {
			fill = vermilion
		}
		c.FillPolygon(fill, dot)
		c.StrokeLines(draw.LineStyle{Color: ink, Width: vg.Points(1)}, append(dot, dot[0]))
	}
}
