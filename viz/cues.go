// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"encoding/json"
	"image/color"
	"strconv"

	"cermic/envs/conf"
	"gonum.org/v1/plot/vg"
)

// cues are what figures show of an experiment beside its method: the memory as a shade of the method's colour, pre-training as dashes, noise as
// short strokes.
type cues struct {
	memory            string // kind of CERMIC's memory; empty: it has none
	pretrained, noisy bool
}

// hatched are the strokes of runs with noise.
var hatched = pattern(2, 2)

// cuesOf reads them from an experiment in its JSON form.
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

// any reports whether there is something to show.
func (c cues) any() bool { return c != cues{} }

// on is a method's look with the cues.
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

// blend is half way from one colour to another.
func blend(a, b color.NRGBA) color.NRGBA {
	half := func(x, y uint8) uint8 { return uint8((int(x) + int(y)) / 2) }
	return color.NRGBA{R: half(a.R, b.R), G: half(a.G, b.G), B: half(a.B, b.B), A: a.A}
}
