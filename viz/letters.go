// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// letters is the text handler of figures. It draws a box for each letter that the typeface lacks, such as CJK; gonum would
// leave a gap.
type letters struct{ text.Handler }

var lettering = letters{plot.DefaultTextHandler}

// Box implements text.Handler.
func (l letters) Box(line string, f font.Font) (width, height, depth vg.Length) {
	return l.Handler.Box(l.substituted(line), f)
}

// Draw implements text.Handler.
func (l letters) Draw(c vg.Canvas, s string, style text.Style, at vg.Point) {
	l.Handler.Draw(c, l.substituted(s), style, at)
}

// substituted is a text in letters of the typeface. Control characters are spaces; joiners and variants of letters are
// left out.
func (l letters) substituted(s string) string {
	var buf sfnt.Buffer
	face := l.Cache().Lookup(typeface(9, false).Font, 9).Face
	return strings.Map(func(r rune) rune {
		switch i, err := face.GlyphIndex(&buf, r); {
		case r == '\n':
			return r
		case unicode.IsControl(r):
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector):
			return -1
		case err == nil && i > 0:
			return r
		}
		return '□'
	}, s)
}

// oneLine is a text without line breaks, other control characters and repeated spaces, which would break a table or a
// legend.
func oneLine(s string) string {
	gap := func(r rune) bool { return unicode.IsSpace(r) && r != '\u00a0' || unicode.IsControl(r) }
	return strings.Join(strings.FieldsFunc(s, gap), " ")
}

// fitted is a text in one line that is no wider than most: a longer one ends in an ellipsis. width measures texts: that
// of a style, or columns.
func fitted[N vg.Length | int](width func(string) N, s string, most N) string {
	s = oneLine(s)
	if width(s) <= most {
		return s
	}
	r := []rune(s)
	n := sort.Search(len(r), func(n int) bool { return width(string(r[:n+1])+"…") > most })
	return strings.TrimRight(string(r[:n]), " ") + "…"
}

// wrapped breaks a text between words into so many lines at most, none wider than most; an ellipsis stands for what is
// left over.
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

// room is a text handler that carries the width of the picture.
type room struct {
	text.Handler
	width vg.Length
}

// widthOf is the width of a plot's picture; until the plot is arranged, the width of a single figure.
func widthOf(p *plot.Plot) vg.Length {
	if r, ok := p.TextHandler.(room); ok {
		return r.width
	}
	return Width
}

// nameTicks implements plot.Ticker: names instead of numbers along an axis.
type nameTicks []plot.Tick

// Ticks implements plot.Ticker.
func (n nameTicks) Ticks(_, _ float64) []plot.Tick { return n }

// with are the ticks with their labels changed.
func (n nameTicks) with(change func(string) string) nameTicks {
	out := slices.Clone(n)
	for i := range out {
		out[i].Label = change(out[i].Label)
	}
	return out
}

// setNames gives each name under a plot its part of the width. Where that would cut words and there is more room
// below, names stand upright.
func setNames(p *plot.Plot, n nameTicks, width, below vg.Length) {
	style := p.X.Tick.Label
	each := width/vg.Length(max(len(n), 1)) - 4
	narrow := slices.ContainsFunc(n, func(t plot.Tick) bool {
		return slices.ContainsFunc(strings.Fields(t.Label), func(word string) bool { return style.Width(word) > each })
	})
	if narrow && each < below {
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, text.XRight, text.YCenter
		p.X.Tick.Marker = n.with(func(s string) string { return fitted(style.Width, s, below) + " " })
		return
	}
	p.X.Tick.Marker = n.with(func(s string) string { return wrapped(style.Width, s, each, 3) })
}

// arranged is a copy of a plot whose title, note and names fit a picture of this size.
func arranged(full *plot.Plot, width, height vg.Length) *plot.Plot {
	p := *full
	p.TextHandler = room{lettering, width}
	p.Title.Text = wrapped(p.Title.TextStyle.Width, p.Title.Text, 0.95*width, 2)
	note, label, under := noteOf(&p), p.X.Label.Text, p.X.Tick.Marker
	setNote(&p, "")
	p.Y.Label.Text = fitted(p.Y.Label.TextStyle.Width, p.Y.Label.Text, 0.75*height)
	if n, ok := p.Y.Tick.Marker.(nameTicks); ok {
		p.Y.Tick.Marker = n.with(func(s string) string { return fitted(p.Y.Tick.Label.Width, s, 0.4*width) })
	}
	n, named := under.(nameTicks)
	if p.X.Label.Text = ""; named { // long texts under the data would take room beside them
		p.X.Tick.Marker = nameTicks(nil)
	}
	data := p.DataCanvas(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: height}}})
	if named {
		setNames(&p, n, data.Size().X, 0.3*height)
	}
	across := 1.9 * min(data.Center().X, width-data.Center().X) // of texts centred under the data
	p.X.Label.Text = fitted(p.X.Label.TextStyle.Width, label, across)
	setNote(&p, wrapped(noteStyle().Width, note, across, 4))
	return &p
}
