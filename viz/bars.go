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
	lookOf := func(bar Bar) Style { return looks[slices.Index(labels, bar.Label)] }
	clusters := groups
	if len(groups) == 1 {
		clusters = nil
		for _, bar := range groups[0].Bars {
			clusters = append(clusters, Group{lookOf(bar).Name, []Bar{bar}})
		}
	}
	var all bars
	var names plot.ConstantTicks
	for g, cluster := range clusters {
		names = append(names, plot.Tick{Value: float64(g), Label: cluster.Label})
		for k, bar := range cluster.Bars {
			b := placedBar{bar, lookOf(bar).Color, float64(g), 0.62}
			if n := float64(len(cluster.Bars)); n > 1 {
				b.x, b.width = b.x+(float64(k)-(n-1)/2)*0.8/n, 0.8/n*0.86
			}
			if own, ok := methods[bar.Method]; ok {
				b.color = own.Color
			}
			all = append(all, b)
		}
	}
	p := newPlot(f)
	p.Add(all)
	if len(groups) > 1 && len(looks) > 0 && !f.Unlabelled {
		p.Add(legend{looks, true})
	}
	p.X.Tick.Marker = names
	p.X.Tick.LineStyle.Width, p.X.LineStyle.Width = 0, 0
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	p.TextHandler = annotated{Handler: lettering, note: cmp.Or(f.Note, all.note())}
	return p, nil
}

// placedBar is a bar of a figure with its look, its centre and its width in data units.
type placedBar struct {
	Bar
	color    color.NRGBA
	x, width float64
}

// bars implements plot.Plotter.
type bars []placedBar

// note says what dots and whiskers are.
func (all bars) note() (text string) {
	has := func(is func(Bar) bool) bool {
		return slices.ContainsFunc(all, func(b placedBar) bool { return is(b.Bar) })
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
func (all bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, b := range all {
		for _, v := range b.values() {
			if !math.IsNaN(v) {
				ymin, ymax = min(ymin, v), max(ymax, v)
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

func (all bars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for _, b := range all {
		left, right, centre := tx(b.x-b.width/2), tx(b.x+b.width/2), tx(b.x)
		if math.IsNaN(b.Value) {
			notRun(c, vg.Point{X: centre, Y: ty(0)}, right-left)
		} else {
			fill, box := b.color, rectangle(left, ty(0), right, ty(b.Value))
			if b.alone() {
				c.StrokeLines(draw.LineStyle{Color: fill, Width: vg.Points(1)}, append(box, box[0]))
				fill = fade(fill, 0x40)
			}
			c.FillPolygon(fill, box)
		}
		switch {
		case b.dotted():
			for i, v := range b.Seeds {
				aside := vg.Length(float64(i) - float64(len(b.Seeds)-1)/2)
				at := vg.Point{X: centre + (right-left)*aside*0.12, Y: ty(v)}
				c.FillPolygon(fade(paper, 0xd0), ring(at, 2.9)) // a light border, so that it can be seen on any bar
				c.FillPolygon(ink, ring(at, 1.9))
			}
		case b.whiskered():
			whisker(c, centre, ty(b.Low), ty(b.High), min((right-left)/4, 4))
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
