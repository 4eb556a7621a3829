// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"cermic/cermiclib/stats"
	"cermic/envs/rng"
)

// Figure says what stands around the data of a plot.
type Figure struct {
	Title, X, Y string  // X and Y name the axes, with units
	Note        string  // small, under the plot: the meaning of bands or whiskers; empty: derived from the data
	Unlabelled  bool    // no names at the ends of the lines: for panels that share a legend
	Low, High   float64 // limits of the vertical axis; High ≤ Low: as the data need
	Marks       []mark  // on the horizontal axis
}

// Curves draws one line per series, with its name at its end. A line is the mean over seeds. Up to five seeds are
// dots beside it, or thin lines where there are many points. With more seeds, a band shows the bootstrap 95 %
// interval of the mean. All of them are drawn only where every seed has a value. References are thin, dotted and
// beneath the others. Series without a value are left out, so that a live plot may begin empty; it then says so.
func Curves(f Figure, series ...Series) (*plot.Plot, error) {
	return curves(f, series, looksOf(series...))
}

func curves(f Figure, series []Series, looks []Style) (*plot.Plot, error) {
	p := newPlot(f)
	p.Add(marks(f.Marks))
	var ends endLabels
	for layer := range 3 {
		for i, s := range series {
			if rank(s) != layer {
				continue
			}
			if err := s.check(); err != nil {
				return nil, err
			}
			if end := drawMean(p, s, looks[i]); !math.IsNaN(end) && looks[i].Name != "" {
				ends = append(ends, lineEnd{looks[i], end})
			}
		}
	}
	if !f.Unlabelled {
		p.Add(ends)
	}
	if p.X.Min > p.X.Max { // nothing was drawn
		p.Add(painted(func(c draw.Canvas, _ *plot.Plot) {
			style := typeface(10, false)
			style.Color = grey
			c.FillText(style, c.Center(), "no data") // axes alone could be taken for a result
		}))
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks{}, plot.ConstantTicks{}
	}
	p.X.Min, p.X.Max = limits(min(p.X.Min, 0), p.X.Max) // training begins at 0, also where the first value comes later
	p.Y.Min, p.Y.Max = limits(p.Y.Min, p.Y.Max)
	if f.High > f.Low && !constant(f.Low, f.High) {
		p.Y.Min, p.Y.Max = f.Low, f.High
	}
	p.TextHandler = annotated{Handler: lettering, note: cmp.Or(f.Note, bandNote(series))}
	return p, nil
}

// looksOf are the styles of series in one figure. References come in their order.
func looksOf(series ...Series) []Style {
	names, references := make([]lineName, len(series)), 0
	for i, s := range series {
		if !s.Reference {
			names[i] = lineName{s.Label, s.Method, s.cues}
		}
	}
	styles := stylesOf(names)
	for i, s := range series {
		if s.color != nil {
			styles[i].Color, styles[i].Dashes, styles[i].Width = *s.color, solid, vg.Points(1.8)
		}
		switch {
		case s.Reference:
			n := len(referenceDashes)
			width := vg.Points(1.1 + 0.7*float64(references/n%3))
			styles[i] = Style{theirs(s.Label), brown, referenceDashes[references%n], width}
			references++
		case s.Faint && s.Label == "":
			styles[i] = Style{Color: blend(grey, mist), Width: vg.Points(1)}
		case s.Faint:
			styles[i].Width = vg.Points(1)
		}
	}
	return styles
}

// theirs is the label of a reference. A method of the paper has its printed name there: "BenchMARL MAPPO".
func theirs(label string) string {
	others, method, two := strings.Cut(label, " ")
	if s, ok := methods[method]; two && ok {
		return others + " " + s.Name
	}
	return label
}

// painted implements plot.Plotter by a function.
type painted func(draw.Canvas, *plot.Plot)

// Plot implements plot.Plotter.
func (f painted) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// SameAxes gives plots the limits that hold the data of each. Plots without data do not count.
func SameAxes(plots ...*plot.Plot) {
	plots = slices.DeleteFunc(slices.Clone(plots), func(p *plot.Plot) bool {
		ticks, named := p.X.Tick.Marker.(plot.ConstantTicks)
		return named && len(ticks) == 0
	})
	x, y := plot.Axis{Min: math.Inf(1), Max: math.Inf(-1)}, plot.Axis{Min: math.Inf(1), Max: math.Inf(-1)}
	for _, p := range plots {
		x.Min, x.Max = min(x.Min, p.X.Min), max(x.Max, p.X.Max)
		y.Min, y.Max = min(y.Min, p.Y.Min), max(y.Max, p.Y.Max)
	}
	for _, p := range plots {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x.Min, x.Max, y.Min, y.Max
	}
}

// rank is the layer of a line, from the lowest, 0, to the uppermost.
func rank(s Series) int {
	switch {
	case s.Reference:
		return 0
	case s.Faint:
		return 1
	}
	return 2
}

// bandReps is the number of resamples behind a band. The remaining noise moves its edge by less than a line's width.
const bandReps = 1000

// drawMean adds the mean line with its band and returns the line's last value, NaN if there is none.
func drawMean(p *plot.Plot, s Series, style Style) (end float64) {
	var line, low, high plotter.XYs
	for _, j := range s.complete() {
		x, v := s.X[j], s.at(j)
		line = append(line, plotter.XY{X: x, Y: stat.Mean(v, nil)})
		switch {
		case s.Low != nil:
			low = append(low, plotter.XY{X: x, Y: s.Low[j]})
			high = append(high, plotter.XY{X: x, Y: s.High[j]})
		case len(v) > dotSeeds:
			i := stats.Bootstrap([][]float64{v}, stats.Mean, bandReps, rng.New(0, "viz/band"))
			low = append(low, plotter.XY{X: x, Y: i.Low})
			high = append(high, plotter.XY{X: x, Y: i.High})
		}
	}
	if len(line) == 0 {
		return math.NaN()
	}
	if len(low) > 0 {
		slices.Reverse(high)
		band := fade(style.Color, 0x30) // light enough for several to overlap
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{append(low, high...)}, Color: band})
	}
	if n := len(s.Y); s.Low == nil && n > 1 && n <= dotSeeds {
		drawEach(p, s, style)
	}
	if s.Branched {
		p.Add(painted(func(c draw.Canvas, p *plot.Plot) { // a ring where one line leaves another
			tx, ty := p.Transforms(&c)
			circle := ring(vg.Point{X: tx(line[0].X), Y: ty(line[0].Y)}, 2.6)
			c.FillPolygon(paper, circle)
			c.StrokeLines(draw.LineStyle{Color: style.Color, Width: vg.Points(1.3)}, append(circle, circle[0], circle[1]))
		}))
	}
	addLine(p, line, style.Line())
	return line[len(line)-1].Y
}

// dotSeeds are shown one by one: a bootstrap interval of so few is hardly more than their range.
const dotSeeds = 5

// manyPoints are too many for dots.
const manyPoints = 25

// drawEach adds the seeds of a mean line: dots, or thin lines.
func drawEach(p *plot.Plot, s Series, style Style) {
	points := s.complete()
	var dots plotter.XYs
	for _, y := range s.Y {
		var line plotter.XYs
		for _, j := range points {
			line = append(line, plotter.XY{X: s.X[j], Y: y[j]})
		}
		if len(points) > manyPoints {
			addLine(p, line, draw.LineStyle{Color: fade(style.Color, 0x48), Width: vg.Points(0.6)})
		}
		dots = append(dots, line...)
	}
	if len(points) <= manyPoints {
		addDots(p, dots, fade(style.Color, 0x90), vg.Points(1.5))
	}
}

func addDots(p *plot.Plot, at plotter.XYs, color color.Color, radius vg.Length) {
	p.Add(&plotter.Scatter{XYs: at, GlyphStyle: draw.GlyphStyle{Color: color, Radius: radius, Shape: draw.CircleGlyph{}}})
}

// addLine adds a line, or a dot where there is only one point to see.
func addLine(p *plot.Plot, xy plotter.XYs, look draw.LineStyle) {
	if len(xy) == 1 {
		addDots(p, xy, look.Color, look.Width*1.2)
		return
	}
	p.Add(&plotter.Line{XYs: xy, LineStyle: look})
}

// mark names a place on the horizontal axis, or a stretch of it.
type mark struct {
	From, To float64 // To ≤ From: a line at From, else a band between both
	Label    string  // beside a line at its lower end; bands have none
	Agent    int     // a band has the colour of this agent
}

// marks implements plot.Plotter. They lie under the data and do not widen the axis.
type marks []mark

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
