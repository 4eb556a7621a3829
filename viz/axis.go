// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figures draw values between these sizes, so that no sum or quotient overflows. Smaller ones are drawn as 0.
const largest, smallest = 1e300, 1e-300

// undrawable reports whether a value is infinite or too large for an axis. NaN is a missing value and passes.
func undrawable(v float64) bool { return math.Abs(v) > largest }

// constant reports whether all values from low to high are equal but for rounding, as are equal seeds and their mean.
func constant(low, high float64) bool {
	size := max(math.Abs(low), math.Abs(high))
	return high-low <= max(1e-15*size, smallest)
}

// limits are the ends of an axis for values from low to high: to 0 for a constant, from 0 to 1 without values.
func limits(low, high float64) (float64, float64) {
	switch {
	case !(low <= high), max(math.Abs(low), math.Abs(high)) < smallest:
		return 0, 1
	case constant(low, high):
		return min(1.05*low, 0), max(1.05*high, 0)
	}
	return low, high
}

// ticks marks about so many round numbers and writes large ones short: 300k, 1.2M.
type ticks struct{ about float64 }

// mostTicks is more than any axis needs.
const mostTicks = 30

// Ticks implements plot.Ticker. A constant has one tick.
func (t ticks) Ticks(low, high float64) []plot.Tick {
	switch {
	case !(low <= high) || math.IsInf(high-low, 0):
		return nil
	case constant(low, high):
		return []plot.Tick{{Value: low, Label: Short(low)}}
	}
	rough := (high - low) / t.about
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, round := range []float64{10, 5, 2.5, 2} {
		if step*round <= rough*1.3 {
			step *= round
			break
		}
	}
	write := numbers(max(math.Abs(low), math.Abs(high)), step)
	var out []plot.Tick
	first := math.Ceil(low/step - 1e-9)
	for k := range mostTicks {
		v := (first + float64(k)) * step
		if v > high+step*1e-9 {
			break
		}
		if n := len(out); n == 0 || out[n-1].Value < v { // a step may be shorter than the distance of two floats
			out = append(out, plot.Tick{Value: v, Label: write(v)})
		}
	}
	return out
}

// typeface returns the one family of letters used in figures, at a size in points.
func typeface(size float64, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: ink, Font: f, Handler: lettering, XAlign: text.XCenter, YAlign: text.YCenter}
}

// newPlot is an empty plot in the house style: sans serif, thin axes, light horizontal lines, few ticks.
func newPlot(f Figure) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = paper
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.Title.TextStyle, p.Title.Padding = typeface(11, true), vg.Points(1)
	p.Title.TextStyle.YAlign = text.YTop
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Label.TextStyle.Handler = typeface(10, false).Font, lettering
		a.Label.TextStyle.Color = ink
		a.Label.Padding = vg.Points(4)
		a.Tick.Label.Font, a.Tick.Label.Handler = typeface(9, false).Font, lettering
		a.Tick.Label.Color = ink
		a.Tick.LineStyle = draw.LineStyle{Color: grey, Width: vg.Points(0.6)}
		a.Tick.Length = vg.Points(3)
		a.Tick.Marker = ticks{about: 5}
		a.LineStyle = draw.LineStyle{Color: grey, Width: vg.Points(0.6)}
		a.Padding = 0
	}
	p.Add(gridLines{&plotter.Grid{Horizontal: draw.LineStyle{Color: mist, Width: vg.Points(0.7)}}})
	return p
}

// gridLines draws one light line a tick of the vertical axis, under everything else.
type gridLines struct{ *plotter.Grid }

// GlyphBoxes implements plot.GlyphBoxer. It leaves half the height of a number above the data, so that the titles of
// panels in a row are level with any ticks.
func (gridLines) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: 6}}}}
}
