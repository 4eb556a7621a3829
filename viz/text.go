// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// letters is the text handler of figures. It draws a box for each letter that the typeface lacks, such as those of CJK
// and emoji, which would leave no trace otherwise.
type letters struct{ text.Handler }

var lettering = letters{plot.DefaultTextHandler}

// Box implements text.Handler.
func (l letters) Box(line string, f font.Font) (width, height, depth vg.Length) {
	return l.Handler.Box(l.drawable(line), f)
}

// Draw implements text.Handler.
func (l letters) Draw(c vg.Canvas, s string, style text.Style, at vg.Point) {
	l.Handler.Draw(c, l.drawable(s), style, at)
}

// drawable is a text in letters of the typeface, without joiners and variation selectors.
func (l letters) drawable(s string) string {
	var buf sfnt.Buffer
	face := l.Cache().Lookup(typeface(9, false).Font, 9).Face
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		if i, err := face.GlyphIndex(&buf, r); r != '\n' && (err != nil || i == 0) {
			return '□'
		}
		return r
	}, s)
}

// oneLine is a text without line breaks, other control characters and repeated spaces.
func oneLine(s string) string {
	gap := func(r rune) bool { return unicode.IsSpace(r) && r != '\u00a0' || unicode.IsControl(r) }
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "□"), gap), " ")
}

// fitted is a text in one line no wider than most, by a measure of texts; a longer one ends in an ellipsis.
func fitted[N vg.Length | int](width func(string) N, s string, most N) string {
	s = oneLine(s)
	if width(s) <= most {
		return s
	}
	r := []rune(s)
	n := sort.Search(len(r), func(n int) bool { return width(string(r[:n+1])+"…") > most })
	return strings.TrimRight(string(r[:n]), " ") + "…"
}

// wrapped breaks a text between words into at most so many lines; an ellipsis stands for what is left over.
func wrapped[N vg.Length | int](width func(string) N, s string, most N, count int) string {
	var lines []string
	for _, word := range strings.Fields(oneLine(s)) {
		last := len(lines) - 1
		switch {
		case last >= 0 && width(lines[last]+" "+word) <= most:
			lines[last] += " " + word
		case len(lines) == count:
			lines[last] = fitted(width, lines[last]+" "+word, most)
			return strings.Join(lines, "\n")
		default:
			lines = append(lines, fitted(width, word, most))
		}
	}
	return strings.Join(lines, "\n")
}

// annotated is the text handler of a plot. It carries what gonum's Plot has no field for.
type annotated struct {
	text.Handler
	note  string    // small, under the plot
	width vg.Length // of the picture; 0 until the plot is arranged
}

// widthOf is the width of a plot's picture; until the plot is arranged, the width of a single figure.
func widthOf(p *plot.Plot) vg.Length { return cmp.Or(annotationOf(p).width, Width) }

func annotationOf(p *plot.Plot) annotated {
	a, _ := p.TextHandler.(annotated)
	return a
}

// setNames gives each name under a plot its part of the width; words too long for it stand upright if there is room.
func setNames(p *plot.Plot, names plot.ConstantTicks, width, below vg.Length) {
	style := p.X.Tick.Label
	each := width/vg.Length(max(len(names), 1)) - 4
	fit := func(s string) string { return wrapped(style.Width, s, each, 3) }
	narrow := slices.ContainsFunc(names, func(t plot.Tick) bool {
		return slices.ContainsFunc(strings.Fields(t.Label), func(word string) bool { return style.Width(word) > each })
	})
	if narrow && each < below {
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, text.XRight, text.YCenter
		fit = func(s string) string { return fitted(style.Width, s, below) + " " }
	}
	fitting := slices.Clone(names)
	for i := range fitting {
		fitting[i].Label = fit(fitting[i].Label)
	}
	p.X.Tick.Marker = fitting
}

// arranged is a copy of a plot whose title and names fit a picture of this size.
func arranged(full *plot.Plot, width, height vg.Length) *plot.Plot {
	p := *full
	p.TextHandler = annotated{lettering, annotationOf(full).note, width}
	p.Title.Text = wrapped(p.Title.TextStyle.Width, p.Title.Text, 0.95*width, 2)
	p.Y.Label.Text = fitted(p.Y.Label.TextStyle.Width, p.Y.Label.Text, 0.75*height)
	label := p.X.Label.Text
	names, named := p.X.Tick.Marker.(plot.ConstantTicks)
	if p.X.Label.Text = ""; named { // long texts under the data would take room beside them
		p.X.Tick.Marker = plot.ConstantTicks{}
	}
	data := p.DataCanvas(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: height}}})
	if named {
		setNames(&p, names, data.Size().X, 0.3*height)
	}
	p.X.Label.Text = fitted(p.X.Label.TextStyle.Width, label, 1.9*min(data.Center().X, width-data.Center().X))
	return &p
}

// Short writes a number in few characters, with k and M for thousands and millions: 1200000 is "1.2M".
func Short(v float64) string { return numbers(math.Abs(v), 0)(v) }

// numbers writes numbers up to top with four digits, or with as many as distinguish numbers that differ by step.
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

// Fixed writes a number with this many digits after the point and a real minus sign; NaN is Missing, and a number
// beyond 1e15 short.
func Fixed(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return Missing
	case math.Abs(v) >= 1e15:
		return Short(v)
	}
	return signed(strconv.FormatFloat(v, 'f', decimals, 64))
}

// Count writes a number of things: 1 run, 3 runs.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Clock writes a duration in the usual units: 42 s, 3 min 05 s, 2 h 07 min.
func Clock(seconds float64) string {
	s := int(math.Round(seconds))
	switch {
	case s >= 3600:
		return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
	case s >= 60:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d s", s)
	}
}

// noteStyle is the lettering of the small lines that say what bands and whiskers are.
func noteStyle() text.Style {
	style := typeface(7.5, false)
	style.Color = grey
	style.YAlign = text.YBottom
	return style
}

// bandNote explains what surrounds the means of series: the seeds themselves up to five, else a bootstrap interval.
func bandNote(series []Series) string {
	var given []string
	var few, more []int // numbers of seeds
	var shapes []string
	alone, bare := false, false
	for _, s := range series {
		n := len(s.Y)
		switch single := n == 1 && !s.Reference && s.Label != ""; {
		case s.Low != nil:
			if s.Band != "" && !slices.Contains(given, s.Band) {
				given = append(given, s.Band)
			}
		case n < 2:
			alone, bare = alone || single && s.Band == "", bare || single && s.Band != ""
		case n > dotSeeds:
			more = append(more, n)
		default:
			shape := "dots"
			if len(s.X) > manyPoints {
				shape = "thin lines"
			}
			if few = append(few, n); !slices.Contains(shapes, shape) {
				shapes = append(shapes, shape)
			}
		}
	}
	var notes []string
	if few != nil {
		notes = append(notes, "mean of "+seeds(few)+", which are the "+strings.Join(shapes, " or "))
	}
	if more != nil {
		notes = append(notes, "mean and bootstrap 95 % interval over "+seeds(more))
	}
	if notes = append(notes, given...); alone && len(notes) > 0 {
		notes = append(notes, "other lines are one seed each")
	}
	if bare && len(given) > 0 {
		notes = append(notes, "lines without one have too few runs for it")
	}
	return strings.Join(notes, "; ")
}

// seeds names a number of seeds, or the range of several.
func seeds(n []int) string {
	if low, high := slices.Min(n), slices.Max(n); low < high {
		return fmt.Sprintf("%d to %d seeds", low, high)
	}
	return fmt.Sprintf("%d seeds", n[0])
}
