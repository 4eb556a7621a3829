// SPDX-License-Identifier: Apache-2.0

// Package viz turns results into pictures and tables: learning curves, bars, panels, grids of numbers, scenes.
//
// Data goes in, a *plot.Plot, an image or a ScoreTable comes out; nothing here reads a store, trains, or imports GoMLX, so a
// notebook cell that only plots compiles and links quickly. A method has one look everywhere, given by Styles.
package viz

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style is the look of one method in every figure.
type Style struct {
	Name   string // as printed in the paper: "MAPPO-CERMIC"
	Color  color.NRGBA
	Dashes []vg.Length // nil: a solid line
	Width  vg.Length
}

// Line is the style as a line.
func (s Style) Line() draw.LineStyle {
	return draw.LineStyle{Color: s.Color, Width: s.Width, Dashes: s.Dashes}
}

// Band is the colour of an interval around the line, light enough for several to overlap.
func (s Style) Band() color.NRGBA { return fade(s.Color, 0x30) }

// The colours of methods: those of Okabe and Ito (2008), chosen to stay apart under every common colour deficiency, with violet in the
// place of yellow, which is hard to see on white, and five more. TestColoursStayApart measures the distances.
var (
	black     = rgb(0x1a1a1a)
	orange    = rgb(0xe69f00)
	sky       = rgb(0x56b4e9)
	green     = rgb(0x009e73)
	violet    = rgb(0x7a45dd)
	blue      = rgb(0x0060a8)
	vermilion = rgb(0xd55e00)
	pink      = rgb(0xc880b0)
	wine      = rgb(0x7a1f4f)
	grey      = rgb(0x8c8c8c)
	brick     = rgb(0xa91f03)
	royal     = rgb(0x1e2aef)
	grass     = rgb(0x50e932)
)

// The colours of everything else: of what somebody else recorded, and of labels that are no method.
var (
	brown      = rgb(0x8a5a2b)
	teal       = rgb(0x007890)
	crimson    = rgb(0xa00038)
	olive      = rgb(0x907830)
	periwinkle = rgb(0x6090f0)
	lime       = rgb(0x78d878)
	navy       = rgb(0x0000c0)
)

// Ink, mist and paper are the neutral tones: text and outlines, grid lines and frames, background.
var (
	ink   = rgb(0x30343b)
	mist  = rgb(0xe3e6ea)
	paper = rgb(0xffffff)
)

var (
	solid   []vg.Length
	dashed  = pattern(6, 2.5)
	dotted  = pattern(1.5, 2)
	dashDot = pattern(5, 2, 1.5, 2)
)

// dashes are the patterns that lines of one colour take one after the other.
var dashes = [][]vg.Length{solid, dashed, pattern(12, 3), pattern(7, 2, 1.5, 2, 1.5, 2), dashDot, dotted, pattern(2.5, 4), pattern(12, 2, 3, 2)}

// referenceDashes are those of what somebody else recorded, which has one colour, brown.
var referenceDashes = [][]vg.Length{dotted, dashDot, pattern(2.5, 4), pattern(7, 2, 1.5, 2, 1.5, 2), pattern(12, 2, 3, 2), dashed, pattern(12, 3), pattern(1, 5)}

func pattern(points ...float64) []vg.Length {
	out := make([]vg.Length, len(points))
	for i, v := range points {
		out[i] = vg.Points(v)
	}
	return out
}

// methods lists the rows of the paper's main table and ours beside them. Learners that explore with CERMIC are drawn heavy, policy
// gradient methods solid, value-based ones dashed, ours with Theorem 1's bonus dash-dotted: a second cue beside colour.
var methods = map[string]Style{
	"mappo":        {"MAPPO", black, solid, vg.Points(1.4)},
	"mappo-eps":    {"MAPPO-ε-greedy", violet, solid, vg.Points(1.4)},
	"mappo-db":     {"MAPPO-DB", sky, solid, vg.Points(1.4)},
	"mace":         {"MACE", green, solid, vg.Points(1.4)},
	"cpm":          {"CPM", pink, solid, vg.Points(1.4)},
	"qmix":         {"QMIX", grey, dashed, vg.Points(1.4)},
	"qmix-spectra": {"QMIX-SPECTra", orange, dashed, vg.Points(1.4)},
	"qplex-ices":   {"QPLEX-ICES", wine, dashed, vg.Points(1.4)},
	"qmix-cermic":  {"QMIX-CERMIC", blue, dashed, vg.Points(2.2)},
	"mappo-cermic": {"MAPPO-CERMIC", vermilion, solid, vg.Points(2.2)},

	"qmix-cermic-ucb":  {"QMIX-CERMIC-UCB", royal, dashDot, vg.Points(2.2)},
	"mappo-cermic-ucb": {"MAPPO-CERMIC-UCB", brick, dashDot, vg.Points(2.2)},
	"mappo-rff":        {"random Fourier count", grass, solid, vg.Points(1.4)},
}

// spare are the colours of labels that are no method of the paper, in order of appearance; none is a method's.
var spare = []color.NRGBA{teal, crimson, olive, periwinkle, lime, navy}

// Styles returns the looks of the labels of one figure, each another one. A method, by its identifier or its name ("mappo-cermic",
// "MAPPO-CERMIC"), has its own colour; other labels have the others, in their order, "" keeping a place free.
func Styles(labels ...string) []Style {
	names := make([]name, len(labels))
	for i, label := range labels {
		names[i].label = label
	}
	return stylesOf(names)
}

// name is what is written beside a line.
type name struct {
	label, method string // method: whose look it has; empty: that of the label, if it is a method's name
	cues          cues
}

// known is the method's own look; changed tells that the name stands for other settings of the method.
func (n name) known() (s Style, ok, changed bool) {
	if s, ok = named(n.label); ok {
		return s, true, false
	}
	s, ok = methods[n.method]
	return s, ok, ok
}

// stylesOf are the looks of the names of one figure. A method with changed settings has its colour and other dashes; where there is only
// one method, each of its settings has another colour, as labels have that are no method.
func stylesOf(names []name) []Style {
	out, used := make([]Style, len(names)), map[string]bool{}
	different := map[string]bool{} // names of methods
	for _, n := range names {
		if s, ok, _ := n.known(); ok {
			different[s.Name] = true
		}
	}
	labels := map[name]bool{}
	for _, n := range names {
		labels[n] = true
	}
	delete(labels, name{})
	own := len(different) > 1 || len(labels) == 1 // a line alone, or beside other methods, has its method's colour
	first := slices.IndexFunc(names, func(n name) bool { return n.label != "" })
	cued := slices.ContainsFunc(names, func(n name) bool { return n.label != "" && n.cues != names[first].cues }) // what all have in common tells none apart
	for i, n := range names {
		s, ok, changed := n.known()
		if ok && !changed {
			out[i], used[s.key()] = s, true
		}
	}
	for i, n := range names {
		if first := slices.Index(names, n); first < i {
			out[i] = out[first]
		} else if out[i].Name == "" {
			s, ok, _ := n.known()
			switch {
			case ok && cued && n.cues.any():
				out[i] = n.cues.on(s).variant(used)
			case ok && own:
				out[i] = s.variant(used)
			default:
				if out[i] = agentStyle(n.label); out[i].Color.A == 0 || used[out[i].key()] {
					out[i] = other(i, used)
				}
			}
			out[i].Name = n.label
			if settings, begins := strings.CutPrefix(n.label, n.method+" "); ok && begins { // "mappo-cermic explore.alpha=0.5"
				out[i].Name = s.Name + " " + strings.ReplaceAll(settings, "explore.", "")
			}
			used[out[i].key()] = n.label != ""
		}
	}
	return out
}

// key tells styles apart.
func (s Style) key() string { return fmt.Sprint(s.Color, s.Dashes, s.Width) }

// variant is the first look of a method that is not used yet: its own, then other dashes, then other widths.
func (s Style) variant(used map[string]bool) Style {
	for _, width := range []vg.Length{s.Width, s.Width * 0.6, s.Width * 1.5} {
		for i, d := range dashes {
			v := s
			if v.Width = width; i > 0 || width != s.Width {
				v.Dashes = d
			}
			if !used[v.key()] {
				return v
			}
		}
	}
	return s
}

// other is the look of a label that is no method, by its place among the labels.
func other(place int, used map[string]bool) Style {
	n := len(spare)
	for k := place; k < place+n*len(dashes); k++ {
		s := Style{Color: spare[k%n], Dashes: dashes[k/n%len(dashes)], Width: vg.Points(1.8)}
		if !used[s.key()] {
			return s
		}
	}
	return Style{Color: spare[place%n], Width: vg.Points(1.8)}
}

// agentStyle is the look of a line that is called after an agent, "agent 1": the colour that the agent has in pictures of its world.
func agentStyle(label string) Style {
	number, err := strconv.Atoi(strings.TrimPrefix(label, "agent "))
	if err != nil || number < 1 || label != fmt.Sprintf("agent %d", number) {
		return Style{}
	}
	return Style{Color: agentColor(number - 1), Width: vg.Points(1.8)}
}

// named is the look of a method by its identifier or its name.
func named(label string) (Style, bool) {
	for id, s := range methods {
		if s.Name == label || id == identifier(label) {
			return s, true
		}
	}
	return Style{}, false
}

// identifier is what the paper's name of a method is called in our labels.
func identifier(name string) string {
	return strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(name), "ε", "eps"), "-greedy")
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

func fade(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
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
	p.Add(gridLines{})
	return p
}

// Count writes a number of things: 1 run, 3 runs.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Clock writes seconds as people say them: 42 s, 3 min 05 s, 2 h 07 min.
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
