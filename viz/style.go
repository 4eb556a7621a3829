// SPDX-License-Identifier: Apache-2.0

// Package viz turns results into pictures and tables: learning curves, bars, panels, grids of numbers, scenes.
//
// Data goes in; a *plot.Plot, an image or a ScoreTable comes out. Nothing here reads a store, trains, or imports
// GoMLX, so a notebook cell that only plots compiles and links quickly. A method has one look everywhere.
package viz

import (
	"encoding/json"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"cermic/envs/conf"
)

// Style is the look of one line or bar: a method has the same style in every figure.
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

// key is equal for styles that cannot be distinguished.
func (s Style) key() string { return fmt.Sprint(s.Color, s.Dashes, s.Width) }

// lineName identifies a line of a figure.
type lineName struct {
	label  string
	method string // identifier of its method, whose style it has; empty: the label is read as a method's name
	cues   cues
}

// cues are settings beside the method: the memory, shown as a shade of its colour, pre-training and noise, as dashes.
type cues struct {
	memory            string // kind of CERMIC's memory; empty: none
	pretrained, noisy bool
}

// cuesOf reads the cues from an experiment in its JSON form.
func cuesOf(experiment json.RawMessage) (c cues) {
	values, err := conf.Values(experiment)
	if err != nil {
		return c // of another program
	}
	c.memory = values["explore.memory"]
	start := values["explore.memory.pretrain"]
	c.pretrained = start != "" && start != "none"
	width, _ := strconv.ParseFloat(values["task.noise.width"], 64) // 0 where a task has no noise
	c.noisy = width > 0
	return c
}

// on is a method's style with the cues.
func (c cues) on(s Style) Style {
	switch c.memory {
	case "gru":
		s.Color = blend(s.Color, paper)
	case "mlp":
		s.Color = blend(s.Color, rgb(0))
	}
	switch {
	case c.noisy:
		s.Dashes = hatched
	case c.pretrained:
		s.Dashes, s.Width = dashed, vg.Points(2.2)
	}
	return s
}

// labelStyles returns a style of its own for each label of one figure, by the rules of stylesOf; "" keeps a place
// free. A method is named by its identifier or its printed name: "mappo-cermic", "MAPPO-CERMIC".
func labelStyles(labels ...string) []Style {
	names := make([]lineName, len(labels))
	for i, label := range labels {
		names[i].label = label
	}
	return stylesOf(names)
}

// stylesOf assigns a style to each line of one figure; equal names share one. The first rule that applies decides:
//
//  1. A label that is a method's name has the method's own style.
//  2. Changed settings of a method have its colour: with the shade and dashes of their cues if the figure's cues
//     differ, else with free dashes. If the figure shows a single method, rule 4 colours its settings instead.
//  3. "agent 2" has the colour of that agent in scenes.
//  4. Any other label has a spare colour, by its place in the figure.
func stylesOf(names []lineName) []Style {
	out, used := make([]Style, len(names)), map[string]bool{}
	for i, n := range names { // before the others, so that none of them takes a method's own style
		if s, ok := methodNamed(n.label); ok {
			out[i], used[s.key()] = s, true
		}
	}
	byColour, byCue := severalMethods(names), cuesDiffer(names)
	for i, n := range names {
		if first := slices.Index(names, n); first < i {
			out[i] = out[first]
			continue
		}
		if out[i].Name != "" {
			continue
		}
		s, ok := methods[n.method]
		switch {
		case ok && byCue && n.cues != cues{}:
			out[i] = unused(n.cues.on(s).variants(), used)
		case ok && byColour:
			out[i] = unused(s.variants(), used)
		default:
			out[i] = unused(spareStyles(n.label, i), used)
		}
		out[i].Name = n.label
		if settings, ok := strings.CutPrefix(n.label, n.method+" "); ok && s.Name != "" { // "mappo-cermic explore.alpha=0.5"
			out[i].Name = s.Name + " " + strings.ReplaceAll(settings, "explore.", "")
		}
		used[out[i].key()] = n.label != ""
	}
	return out
}

// severalMethods reports whether a figure shows several methods, or one line alone, so that colours stand for methods.
func severalMethods(names []lineName) bool {
	shown, lines := map[string]bool{}, map[lineName]bool{}
	for _, n := range names {
		s, ok := methodNamed(n.label)
		if !ok {
			s = methods[n.method]
		}
		lines[n], shown[s.Name] = true, true
	}
	delete(shown, "")
	delete(lines, lineName{})
	return len(shown) > 1 || len(lines) == 1
}

// cuesDiffer reports whether the cues distinguish any two lines of a figure.
func cuesDiffer(names []lineName) bool {
	first := slices.IndexFunc(names, func(n lineName) bool { return n.label != "" })
	return slices.ContainsFunc(names, func(n lineName) bool { return n.label != "" && n.cues != names[first].cues })
}

// variants are the looks of a method: its own, then other dashes, then other widths.
func (s Style) variants() (out []Style) {
	for _, width := range []vg.Length{s.Width, s.Width * 0.6, s.Width * 1.5} {
		for i, d := range dashes {
			v := s
			if v.Width = width; i > 0 || width != s.Width {
				v.Dashes = d
			}
			out = append(out, v)
		}
	}
	return out
}

// spareStyles are the looks of a label that is no method, by its place; "agent 1" has the agent's own colour first.
func spareStyles(label string, place int) (out []Style) {
	number, _ := strconv.Atoi(strings.TrimPrefix(label, "agent "))
	if number > 0 && label == fmt.Sprintf("agent %d", number) {
		out = append(out, Style{Color: agentColor(number - 1), Width: vg.Points(1.8)})
	}
	n := len(spare)
	for k := place; k < place+n*len(dashes); k++ {
		out = append(out, Style{Color: spare[k%n], Dashes: dashes[k/n%len(dashes)], Width: vg.Points(1.8)})
	}
	return out
}

// unused is the first of looks that no line of a figure has yet, else the first of all.
func unused(looks []Style, used map[string]bool) Style {
	return looks[max(0, slices.IndexFunc(looks, func(s Style) bool { return !used[s.key()] }))]
}

// methodNamed finds a method's style by its identifier or its printed name.
func methodNamed(label string) (Style, bool) {
	id := strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(label), "ε", "eps"), "-greedy")
	for key, s := range methods {
		if s.Name == label || key == id {
			return s, true
		}
	}
	return Style{}, false
}

// The colours of methods: the palette of Okabe and Ito (2008), which stays distinguishable under every common colour
// deficiency, and five more. Violet replaces yellow, which is hard to see on white. TestColoursStayApart measures the
// distances.
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

// The colours of recorded references (brown) and of labels that are no method.
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
	dashed  = []vg.Length{6, 2.5}
	dotted  = []vg.Length{1.5, 2}
	dashDot = []vg.Length{5, 2, 1.5, 2}
	hatched = []vg.Length{2, 2} // of runs with noise
)

// dashes are the patterns of lines that share a colour, in order.
var dashes = [][]vg.Length{solid, dashed, {12, 3}, {7, 2, 1.5, 2, 1.5, 2}, dashDot, dotted, {2.5, 4}, {12, 2, 3, 2}}

// referenceDashes are the patterns of recorded curves of other programs, which are all brown.
var referenceDashes = [][]vg.Length{dotted, dashDot, {2.5, 4}, {7, 2, 1.5, 2, 1.5, 2}, {12, 2, 3, 2},
	dashed, {12, 3}, {1, 5}}

// methods are the styles of methods by identifier. Line width and dashes are a second cue beside colour. CERMIC is
// heavy, policy gradients are solid, value learners dashed, and CERMIC with Theorem 1's bonus is dash-dotted.
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

// spare are the colours of labels that are no method, in order of appearance.
var spare = [...]color.NRGBA{teal, crimson, olive, periwinkle, lime, navy}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

func fade(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

// blend is half way from one colour to another.
func blend(a, b color.NRGBA) color.NRGBA {
	half := func(x, y uint8) uint8 { return uint8((int(x) + int(y)) / 2) }
	return color.NRGBA{R: half(a.R, b.R), G: half(a.G, b.G), B: half(a.B, b.B), A: a.A}
}
