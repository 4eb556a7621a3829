// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"strings"
	"testing"

	"gonum.org/v1/plot"
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

func TestNotesThatDifferAreBrokenToTheWidthOfTheirPanels(t *testing.T) {
	const note = "mean of 2 to 5 seeds, which are the dots; bands: standard deviation over runs; other lines are one seed each"
	const width = 2 * vg.Inch
	broken := wrapped(noteStyle().Width, note, width, 9)
	if strings.ReplaceAll(broken, "\n", " ") != note || !strings.Contains(broken, "\n") {
		t.Errorf("broken to %q", broken)
	}
	for line := range strings.SplitSeq(broken, "\n") {
		if w := noteStyle().Width(line); w > width {
			t.Errorf("%q is %v wide, want %v at most", line, w, width)
		}
	}
	differ := Panels{Rows: make([][]*plot.Plot, 1), Width: 2 * vg.Inch, Height: 2 * vg.Inch}
	for _, note := range []string{note, note + ", too"} {
		p, err := Curves(Figure{X: "frames", Y: "reward", Note: note}, Series{Label: "MAPPO", X: []float64{0, 1}, Y: [][]float64{{0, 1}}})
		if err != nil {
			t.Fatal(err)
		}
		differ.Rows[0] = append(differ.Rows[0], p)
	}
	differ.Image()
	if got := noteOf(differ.Rows[0][0]); got != note { // the caller's plots stay as they are
		t.Errorf("the plot's own note became %q", got)
	}
}
