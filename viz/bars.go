// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bar is one measured value with its interval.
type Bar struct {
	Label     string  // a method's name gives the method's look
	Value     float64 // NaN: nothing measured, which is stated instead of a bar
	Low, High float64 // bootstrap 95 % interval; NaN: none

	Method string    // sets the bar's look; empty: as Label says
	Seeds  []float64 // up to five are drawn as dots, instead of the interval
}

func (b Bar) values() []float64 {
	return append([]float64{b.Value, b.Low, b.High}, b.Seeds...)
}

func (b Bar) dotted() bool { return len(b.Seeds) > 1 && len(b.Seeds) <= dotSeeds }

func (b Bar) alone() bool { return len(b.Seeds) == 1 }

func (b Bar) whiskered() bool { return !b.dotted() && !math.IsNaN(b.Low+b.High) }

// Group is a cluster of bars with a common name, for example a task.
type Group struct {
	Label string
	Bars  []Bar
}

// Bars draws groups of bars from zero, with whiskers for intervals. A single group has
// a name under each bar; several groups have their own names there, and a legend.
func Bars(f Figure, groups ...Group) (*plot.Plot, error) {
	var labels []string // all names in order of appearance
	for _, g := range groups {
		for _, bar := range g.Bars {
			if slices.ContainsFunc(bar.values(), undrawable) {
				return nil, fmt.Errorf("bar %q of %q has the values %g, want at most %g in size",
					bar.Label, g.Label, bar.values(), largest)
			}
			if !slices.Contains(labels, bar.Label) {
				labels = append(labels, bar.Label)
			}
		}
	}
	looks := labelStyles(labels...)
	b := &bars{groups: groups, styles: map[string]Style{}}
	for i, style := range looks {
		b.styles[labels[i]] = style
	}
	p := newPlot(f)
	p.Add(b)
	if len(groups) == 1 {
		b.groups = nil
		for _, bar := range groups[0].Bars {
			b.groups = append(b.groups, Group{b.styles[bar.Label].Name, []Bar{bar}})
		}
	} else if !f.Unlabelled && len(looks) > 0 {
		p.Add(legend{looks, true})
	}
	var names plot.ConstantTicks
	for i, g := range b.groups {
		names = append(names, plot.Tick{Value: float64(i), Label: g.Label})
	}
	p.X.Tick.Marker = names
	p.X.Tick.LineStyle.Width, p.X.LineStyle.Width = 0, 0
	p.X.Min, p.X.Max = -0.5, float64(len(b.groups))-0.5
	p.TextHandler = annotated{Handler: lettering, note: cmp.Or(f.Note, b.note())}
	return p, nil
}

// bars implements plot.Plotter. Group g is centred on x = g.
type bars struct {
	groups []Group
	styles map[string]Style // by label
}

func (b *bars) color(bar Bar) color.NRGBA {
	if own, ok := methods[bar.Method]; ok {
		return own.Color
	}
	return b.styles[bar.Label].Color
}

// place returns the centre and the width of bar k in group g, in data units.
func (b *bars) place(g, k int) (x, width float64) {
	n := float64(len(b.groups[g].Bars))
	if n == 1 {
		return float64(g), 0.62
	}
	return float64(g) + (float64(k)-(n-1)/2)*0.8/n, 0.8 / n * 0.86
}

// note says what dots and whiskers are.
func (b *bars) note() (text string) {
	has := func(is func(Bar) bool) bool {
		return slices.ContainsFunc(b.groups, func(g Group) bool { return slices.ContainsFunc(g.Bars, is) })
	}
	switch {
	case has(Bar.dotted) && has(Bar.whiskered):
		text = "mean of seeds, which are the dots; of more than five its bootstrap 95 % interval"
	case has(Bar.dotted):
		text = "mean of seeds, which are the dots"
	case has(Bar.whiskered):
		text = "mean and bootstrap 95 % interval over seeds"
	}
	if text != "" && has(Bar.alone) {
		text += "; hollow: one seed"
	}
	return text
}

// DataRange implements plot.DataRanger. Zero is always in it, because the length of a bar is what is compared.
func (b *bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, g := range b.groups {
		for _, bar := range g.Bars {
			for _, v := range bar.values() {
				if !math.IsNaN(v) {
					ymin, ymax = min(ymin, v), max(ymax, v)
				}
			}
		}
	}
	ymin, ymax = limits(ymin, ymax)
	margin := (ymax - ymin) * 0.04
	if ymin < 0 {
		ymin -= margin
	}
	return 0, 0, ymin, ymax + margin
}

func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for g, group := range b.groups {
		for k, bar := range group.Bars {
			x, width := b.place(g, k)
			left, right, centre := tx(x-width/2), tx(x+width/2), tx(x)
			if math.IsNaN(bar.Value) {
				notRun(c, vg.Point{X: centre, Y: ty(0)}, right-left)
			} else {
				color, box := b.color(bar), rectangle(left, ty(0), right, ty(bar.Value))
				if bar.alone() {
					c.StrokeLines(draw.LineStyle{Color: color, Width: vg.Points(1)}, append(box, box[0]))
					color = fade(color, 0x40)
				}
				c.FillPolygon(color, box)
			}
			switch {
			case bar.dotted():
				for i, v := range bar.Seeds {
					aside := vg.Length(float64(i) - float64(len(bar.Seeds)-1)/2)
					at := vg.Point{X: centre + (right-left)*aside*0.12, Y: ty(v)}
					c.FillPolygon(fade(paper, 0xd0), ring(at, 2.9)) // a light border, so that it can be seen on any bar
					c.FillPolygon(ink, ring(at, 1.9))
				}
			case bar.whiskered():
				whisker(c, centre, ty(bar.Low), ty(bar.High), min((right-left)/4, 4))
			}
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: grey, Width: vg.Points(0.8)}, c.Min.X, ty(0), c.Max.X, ty(0))
}

// notRun writes "not run" above a height, upright where the bar would be narrow: an empty place there reads as a
// score of 0.
func notRun(c draw.Canvas, at vg.Point, width vg.Length) {
	const text = "not run"
	style := typeface(8.5, false)
	style.Color = grey
	style.YAlign = draw.YBottom
	if at.Y += 3; style.Width(text) > width {
		style.Rotation, style.XAlign, style.YAlign = math.Pi/2, draw.XLeft, draw.YCenter
	}
	c.FillText(style, at, text)
}

// whisker draws an interval, on a light border so that it can be seen on any bar.
func whisker(c draw.Canvas, x, low, high, half vg.Length) {
	shape := [][]vg.Point{
		{{X: x, Y: low}, {X: x, Y: high}},
		{{X: x - half, Y: low}, {X: x + half, Y: low}},
		{{X: x - half, Y: high}, {X: x + half, Y: high}},
	}
	c.StrokeLines(draw.LineStyle{Color: fade(paper, 0xb0), Width: vg.Points(2.6)}, shape...)
	c.StrokeLines(draw.LineStyle{Color: ink, Width: vg.Points(1.1)}, shape...)
}

func rectangle(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}
