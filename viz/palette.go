// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image/color"

	"gonum.org/v1/plot/vg"
)

// The colours of methods: the palette of Okabe and Ito (2008), whose colours stay apart under every common colour deficiency, with
// violet in place of yellow, which is hard to see on white, and five more. TestColoursStayApart measures the distances.
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
	dashed  = pattern(6, 2.5)
	dotted  = pattern(1.5, 2)
	dashDot = pattern(5, 2, 1.5, 2)
	hatched = pattern(2, 2) // of runs with noise
)

// dashes are the patterns of lines that share a colour, in order.
var dashes = [][]vg.Length{solid, dashed, pattern(12, 3), pattern(7, 2, 1.5, 2, 1.5, 2), dashDot, dotted, pattern(2.5, 4), pattern(12, 2, 3, 2)}

// referenceDashes are the patterns of recorded curves of other programs, which are all brown.
var referenceDashes = [][]vg.Length{dotted, dashDot, pattern(2.5, 4), pattern(7, 2, 1.5, 2, 1.5, 2),
	pattern(12, 2, 3, 2), dashed, pattern(12, 3), pattern(1, 5)}

func pattern(points ...float64) []vg.Length {
	out := make([]vg.Length, len(points))
	for i, v := range points {
		out[i] = vg.Points(v)
	}
	return out
}

// methods are the styles of methods by identifier. Line width and dashes are a second cue beside colour: CERMIC is
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
var spare = []color.NRGBA{teal, crimson, olive, periwinkle, lime, navy}

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
