// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// cloud is a labelled set of points in the plane, for example latents projected on two components.
type cloud struct {
	Label  string
	Points [][2]float64
	Trail  bool   // the points are one path in time: joined by a line, the first hollow, paler before than after
	Faint  bool   // of a trail only the line and its beginning
	Dark   []bool // which points have a dark core; nil: none
}

// scatter draws clouds of points. Clouds of one label have one colour.
func scatter(f Figure, clouds ...cloud) (*plot.Plot, error) {
	p := newPlot(f)
	labels := make([]string, len(clouds))
	for i, c := range clouds {
		labels[i] = c.Label
	}
	for i, style := range Styles(labels...) {
		xy := make(plotter.XYs, len(clouds[i].Points))
		for j, q := range clouds[i].Points {
			if math.IsNaN(q[0]+q[1]) || undrawable(q[0]) || undrawable(q[1]) {
				return nil, fmt.Errorf("cloud %q: point %d is (%g, %g)", clouds[i].Label, j, q[0], q[1])
			}
			xy[j] = plotter.XY{X: q[0], Y: q[1]}
		}
		if len(xy) > 0 {
			p.Add(&points{xy, clouds[i], style})
		}
	}
	p.X.Min, p.X.Max = limits(p.X.Min, p.X.Max)
	p.Y.Min, p.Y.Max = limits(p.Y.Min, p.Y.Max)
	return p, nil
}

// points implements plot.Plotter.
type points struct {
	plotter.XYs
	cloud cloud
	style Style
}

// DataRange implements plot.DataRanger.
func (s *points) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = plotter.XYRange(s.XYs)
	dx, dy := (xmax-xmin)*0.03, (ymax-ymin)*0.03 // whole dots, also at the edges
	return xmin - dx, xmax + dx, ymin - dy, ymax + dy
}

// Plot implements plot.Plotter.
func (s *points) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	at := make([]vg.Point, len(s.XYs))
	for i, q := range s.XYs {
		at[i] = vg.Point{X: tx(q.X), Y: ty(q.Y)}
	}
	if s.cloud.Trail {
		c.StrokeLines(draw.LineStyle{Color: fade(s.style.Color, 0x60), Width: vg.Points(0.8)}, at)
	}
	for i, q := range at {
		if s.cloud.Faint {
			break
		}
		alpha := uint8(0x90)
		if s.cloud.Trail {
			alpha = 0x40 + uint8(0xbf*i/max(len(at)-1, 1))
		}
		c.FillPolygon(fade(s.style.Color, alpha), ring(q, 2.2))
		if s.cloud.Dark != nil && s.cloud.Dark[i] {
			c.FillPolygon(ink, ring(q, 1.1))
		}
	}
	if s.cloud.Trail {
		c.FillPolygon(paper, ring(at[0], 3.2))
		start := ring(at[0], 3.2)
		c.StrokeLines(draw.LineStyle{Color: s.style.Color, Width: vg.Points(1.2)}, append(start, start[0]))
	}
}
