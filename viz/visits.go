// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"cermic/cermiclib/results"
	"cermic/envs"
)

// Visits draws three maps over the cells of a run's projection. They show all visits so far, the visits of the last
// rollout batch, and the mean intrinsic reward of that batch. Both maps of visits are on a logarithmic scale. In
// worlds with one cell per unit, as in the rooms of envs/explore, walls, doors, switches and goals are drawn in their
// initial state.
func Visits(v *results.Visits) (Panels, error) {
	q := v.Projection
	n := q.Columns * q.Rows
	if n < 1 || len(v.Counts) != n || len(v.Recent) != n || len(v.Bonus) != n || q.Blocked != nil && len(q.Blocked) != n {
		return Panels{}, fmt.Errorf("visits to %d, %d and %d cells, want %d × %d of each",
			len(v.Counts), len(v.Recent), len(v.Bonus), q.Columns, q.Rows)
	}
	if i := slices.IndexFunc(v.Bonus, undrawable); i >= 0 {
		return Panels{}, fmt.Errorf("r^i of cell %d is %g, want at most %g in size", i, v.Bonus[i], largest)
	}
	all, recent, bonus := make([]float64, n), make([]float64, n), make([]float64, n)
	for cell := range n {
		all[cell], recent[cell], bonus[cell] = float64(v.Counts[cell]), float64(v.Recent[cell]), v.Bonus[cell]
		if v.Counts[cell] == 0 {
			all[cell] = math.NaN()
		}
		if v.Recent[cell] == 0 {
			recent[cell], bonus[cell] = math.NaN(), math.NaN()
		}
	}
	p := NewPanels(3,
		(&heat{v, all, true}).plot(fmt.Sprintf("visits: %.0f %% of cells", 100*v.Coverage())),
		(&heat{v, recent, true}).plot("visits, last rollout batch"),
		(&heat{v, bonus, false}).plot("r^i, last rollout batch"))
	p.Height = min(max(p.Width*vg.Length(q.Rows)/vg.Length(q.Columns), 0.35*vg.Inch), 2.6*vg.Inch) + 0.7*vg.Inch
	return p, nil
}

// heat implements plot.Plotter: a number for each cell as a colour, with a scale below.
type heat struct {
	*results.Visits
	value []float64 // [rows·columns]; NaN: never visited
	log   bool      // colours go with the logarithm of a count
}

// world are the shapes, but for agents and walls, of a world whose units are the cells.
func (h *heat) world() (shapes []envs.Shape) {
	q, s := h.Projection, h.Scene
	if s.MinX != 0 || s.MinY != 0 || s.MaxX != float64(q.Columns) || s.MaxY != float64(q.Rows) {
		return nil
	}
	for _, shape := range s.Shapes {
		if shape.Role != envs.RoleAgent && shape.Role != envs.RoleObstacle {
			shape.Hollow = true
			shapes = append(shapes, shape)
		}
	}
	return shapes
}

func (h *heat) plot(title string) *plot.Plot {
	p := newPlot(Figure{Title: title})
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Add(h)
	return p
}

// share places a value between the limits, from 0 to 1.
func (h *heat) share(v, low, high float64) float64 {
	if h.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if constant(low, high) {
		return 1
	}
	return (v - low) / (high - low)
}

// scaleRow is the height of the line that says what colours mean.
const scaleRow = vg.Length(16)

func (h *heat) Plot(c draw.Canvas, _ *plot.Plot) {
	q := h.Projection
	columns, rows := float64(q.Columns), float64(q.Rows)
	p := newPainter(draw.Crop(c, 0, 0, scaleRow, 0), envs.Scene{MaxX: columns, MaxY: rows})
	seen := slices.DeleteFunc(slices.Clone(h.value), math.IsNaN)
	low, high := 1., 1. // of counts
	if len(seen) > 0 {
		high = slices.Max(seen)
		if !h.log {
			low = slices.Min(seen)
		}
	}
	for cell, v := range h.value {
		x, y := float64(cell%q.Columns), float64(q.Rows-1-cell/q.Columns)
		a, b := p.at(x, y), p.at(x+1, y+1)
		fill := color.Color(paper)
		switch {
		case q.Blocked != nil && q.Blocked[cell]:
			fill = slate
		case !math.IsNaN(v):
			fill = warmth(h.share(v, low, high))
		}
		p.FillPolygon(fill, rectangle(a.X, a.Y, b.X, b.Y))
	}
	for _, shape := range h.world() {
		p.shape(shape)
	}
	a, b := p.at(0, 0), p.at(columns, rows)
	frame := rectangle(a.X, a.Y, b.X, b.Y)
	c.StrokeLines(draw.LineStyle{Color: stone, Width: vg.Points(0.8)}, append(frame, frame[0]))
	if len(seen) == 0 {
		c.FillText(typeface(8, false), vg.Point{X: c.Center().X, Y: c.Min.Y + 5}, "no visits yet")
		return
	}
	drawScale(c, low, high)
}

// drawScale draws the colours between their ends.
func drawScale(c draw.Canvas, low, high float64) {
	style := typeface(8, false)
	y := c.Min.Y + 5
	const steps, width = 24, vg.Length(90)
	left := c.Center().X - width/2
	for k := range steps {
		x := left + width*vg.Length(k)/steps
		c.FillPolygon(warmth(float64(k)/(steps-1)), rectangle(x, y-3, x+width/steps, y+3))
	}
	style.XAlign = text.XRight
	c.FillText(style, vg.Point{X: left - 4, Y: y}, numbers(math.Abs(low), high-low)(low))
	style.XAlign = text.XLeft
	c.FillText(style, vg.Point{X: left + width + 4, Y: y}, numbers(math.Abs(high), high-low)(high))
}

// The colours of a map, from little to much: one hue whose lightness falls evenly, so that it reads in grey, too.
var warmths = []color.NRGBA{rgb(0xfdf0d5), rgb(0xf2a65a), rgb(0xb5382f), rgb(0x3f0d28)}

// warmth is the colour of a share from 0 to 1.
func warmth(share float64) color.NRGBA {
	at := min(max(share, 0), 1) * float64(len(warmths)-1)
	k := min(int(at), len(warmths)-2)
	part, a, b := at-float64(k), warmths[k], warmths[k+1]
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + part*(float64(y)-float64(x)))) }
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff}
}
