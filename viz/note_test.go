// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Plots are aligned by what their data areas leave free, at whatever width they have in between.
func TestALongNoteTakesNoRoomBesideALine(t *testing.T) {
	p, err := Curves(Figure{X: "frames", Y: "reward"}, Series{Label: "MAPPO-CERMIC", X: []float64{0, 1}, Y: [][]float64{{0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	narrow := draw.New(vgimg.New(2.2*vg.Inch, 2*vg.Inch))
	setNote(p, "")
	want := p.DataCanvas(narrow)
	setNote(p, strings.Repeat("other lines are one seed each; ", 4))
	if got := p.DataCanvas(narrow); got.Min.X != want.Min.X || got.Max.X != want.Max.X {
		t.Errorf("with a long note the data lie from %v to %v, without one from %v to %v", got.Min.X, got.Max.X, want.Min.X, want.Max.X)
	}
}
