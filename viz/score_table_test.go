// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func ptr(v float64) *float64 { return &v }

// exampleGrid has every kind of cell: measured with and without interval, bold, missing, published with a spread,
// measured on the dense reward alone.
func exampleGrid() ScoreTable {
	return ScoreTable{
		Title:   "Table 1",
		Caption: "Synthetic numbers.",
		Columns: []string{"Balance*", "Cleanup|2", "Zerg"},
		Rows: []Row{
			{Group: "Baselines & co", Head: "QMIX", Cells: []Cell{
				{Ours: 14.04, Low: 12.1, High: 16.98, Seeds: 3, Frames: 600_000, Published: ptr(15.2), Decimals: 1},
				{Published: ptr(121), Decimals: 0, Dense: &Cell{Ours: 97.2, Low: 90, High: 104.4, Seeds: 3, Frames: 600_000}},
				{Ours: -0.04, Low: -0.3, High: 0.31, Seeds: 3, Frames: 600_000, Decimals: 1}}},
			{Group: "Ours", Head: "MAPPO-CERMIC", Cells: []Cell{
				{Ours: 31, Low: 27.25, High: 33.5, Seeds: 3, Frames: 600_000, Published: ptr(30.5), Spread: ptr(1.25), Decimals: 1, Bold: true},
				{Ours: 118, Low: math.NaN(), High: math.NaN(), Seeds: 3, Frames: 600_000, Published: ptr(113), Decimals: 0},
				{}}},
		},
	}
}

func TestGridRendersAsBefore(t *testing.T) {
	g := exampleGrid()
	for file, got := range map[string]string{
		"grid.html": g.HTML(), "grid.txt": g.Text(80),
	} {
		path := filepath.Join("testdata", file)
		if *regen {
			if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s changed:\n%s\nwant:\n%s", file, got, want)
		}
	}
}

func TestGridSaysTheEffortInEveryCellWhereItDiffers(t *testing.T) {
	g := exampleGrid()
	if strings.Contains(g.HTML(), "3 × 600k") {
		t.Error("equal effort is repeated in every cell")
	}
	g.Rows[0].Cells[0].Seeds = 5
	for name, got := range map[string]string{"HTML": g.HTML(), "Text": g.Text(80)} {
		if !strings.Contains(got, "3 × 600k") || !strings.Contains(got, "5 × 600k") {
			t.Errorf("%s does not say which cell has which seeds and frames", name)
		}
	}
}

func TestGridTextKeepsToTheWidth(t *testing.T) {
	for _, line := range strings.Split(exampleGrid().Text(50), "\n") {
		if n := len([]rune(line)); n > 50 {
			t.Errorf("line of %d characters, want at most 50: %s", n, line)
		}
	}
}

func TestGridNeverFillsAGapWithAPublishedNumber(t *testing.T) {
	c := Cell{Published: ptr(10)}
	if d := c.Difference(); !math.IsNaN(d) {
		t.Errorf("the difference of a cell that was not run is %g", d)
	}
	g := ScoreTable{Columns: []string{"a"}, Rows: []Row{{Head: "b", Cells: []Cell{c}}}}
	if lines := strings.Split(g.Text(80), "\n"); !strings.Contains(lines[2], Missing) || strings.Contains(lines[2], "10") {
		t.Errorf("row of ours is %q, want it marked missing", lines[2])
	}
}

func TestGridChecksItsShape(t *testing.T) {
	g := exampleGrid()
	if err := g.Check(); err != nil {
		t.Error(err)
	}
	g.Rows[1].Cells = g.Rows[1].Cells[:2]
	if g.Check() == nil {
		t.Error("a row with a cell too few passed")
	}
}

func TestGridKeepsOnlyTheColumnsAskedFor(t *testing.T) {
	g, err := exampleGrid().Only("Zerg", "Balance*")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Check(); err != nil || g.Rows[0].Cells[0].Ours != -0.04 || g.Rows[1].Cells[1].Ours != 31 {
		t.Errorf("got %+v, %v, want Zerg and then Balance*", g, err)
	}
	if _, err := exampleGrid().Only("Balance"); err == nil || !strings.Contains(err.Error(), "did you mean Balance*?") {
		t.Errorf("got %v, want the near name", err)
	}
}
