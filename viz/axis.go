// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figures draw values between these sizes, so that no sum, difference or quotient of them overflows. Smaller ones are
// drawn as 0.
const largest, smallest = 1e300, 1e-300

// undrawable reports whether a value is infinite or too large for an axis. NaN is a missing value and passes.
func undrawable(v float64) bool { return math.Abs(v) > largest }

// constant reports whether all values from low to high are equal but for rounding, as are equal seeds and their mean.
func constant(low, high float64) bool {
	size := max(math.Abs(low), math.Abs(high))
	return high-low <= 1e-15*size || size < smallest
}

// limits are those of an axis for values from low to high. The axis of a constant reaches from 0 to a little beyond
// it; without values, low > high, it reaches from 0 to 1.
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
	for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9 && len(out) < mostTicks; k++ {
		out = append(out, plot.Tick{Value: k * step, Label: write(k * step)})
	}
	return out
}

// Short writes a number in few characters, with k and M for thousands and millions: 1200000 is "1.2M".
func Short(v float64) string { return numbers(math.Abs(v), 0)(v) }

// numbers writes numbers of sizes up to top with four digits, or with as many as tell numbers apart that differ by
// step.
func numbers(top, step float64) func(v float64) string {
	unit, suffix, digits := 1.0, "", 4
	if step > 0 {
		digits = max(digits, min(2+exponent(top)-exponent(step), 17))
	}
	switch {
	case digits > 4 && top >= 1 && top < 1e16:
		digits = max(digits, 1+exponent(top)) // whole numbers in full
	case digits > 4 || top >= 1e10:
	case top >= 999_950:
		unit, suffix = 1e6, "M"
	case top >= 10_000:
		unit, suffix = 1e3, "k"
	}
	return func(v float64) string {
		if v == 0 {
			return "0" // also for −0
		}
		return minus.Replace(strconv.FormatFloat(v/unit, 'g', digits, 64)) + suffix
	}
}

// minus writes a real minus sign, and none for plus.
var minus = strings.NewReplacer("-", "−", "+", "")

// exponent is the power of ten of a number's first digit.
func exponent(v float64) int { return int(math.Floor(math.Log10(v) + 1e-9)) }

// gridLines draws one light line a tick of the vertical axis, under everything else.
type gridLines struct{}

// Plot implements plot.Plotter.
func (gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if h := y(t.Value); t.Value >= p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(draw.LineStyle{Color: mist, Width: vg.Points(0.7)}, c.Min.X, h, c.Max.X, h)
		}
	}
}

// GlyphBoxes implements plot.GlyphBoxer: it leaves as much room above the data as half a number takes there, so that
// the titles of panels in a row are level whatever their ticks.
func (gridLines) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: 6}}}}
}
