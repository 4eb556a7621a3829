// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/theory"
	"cermic/envs/envtest/must"
)

func ExampleBox() {
	fmt.Print(Box{Mark: Bad, Head: "contradicted", Text: "All is well.", Lines: []string{"It is not."}}.Plain())
	// Output:
	// ✗ contradicted: All is well.
	//   It is not.
}

func TestBoxesFoldAllButThreeLinesAndEscapeHTML(t *testing.T) {
	page := Box{Head: "a<b", Lines: []string{"1", "2", "3", "4", "5"}}.HTML()
	if !strings.Contains(page, "a&lt;b") || !strings.Contains(page, "2 more") || strings.Count(page, "details>") != 2 {
		t.Errorf("got %s", page)
	}
	if page := (Box{Lines: []string{"1"}}).HTML(); strings.Contains(page, "details") {
		t.Errorf("a single line is folded: %s", page)
	}
}

// Every form has all parts, real minus signs in numbers alone, escaped letters, and rows that stand out.
func TestTablesHaveThreeForms(t *testing.T) {
	report := theory.Report{Title: "Tasks", Header: []string{"mappo-2", "α"}, Notes: []string{"one & two"},
		Rows: [][]string{{"a<b|c", "-0.50 [-1.2, -.3] (-4) 1e-05 -0.000"}, {"αβγ, 2024-05", "1"}}}
	table := TheoryTable(&report)
	table.Marked, table.Search = []int{1}, true
	const numbers = "−0.50 [−1.2, −.3] (−4) 1e-05 0.000"
	if got, want := table.Text(), "Tasks\n  mappo-2       α\n  a<b|c         "+numbers+"\n* αβγ, 2024-05  1\none & two\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := table.Markdown(), "**Tasks**\n\n| mappo-2 | α |\n|---|---|\n| a<b\\|c | "+numbers+" |\n| **αβγ, 2024-05** | **1** |\n\none & two\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	page := table.HTML()
	for _, want := range []string{"a&lt;b", "one &amp; two", "<b>Tasks</b>", `bold">1<`, `<input type="search"`,
		`−0.50 <span style="white-space:nowrap">[−1.2, −.3]</span> (−4) 1e-05 0.000`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s does not contain %s", page, want)
		}
	}
	if strings.Count(page, "<tr>") != 3 || strings.Count(page, "bold") != 2 || strings.Contains((Table{Header: []string{"a"}}).HTML(), "<input") {
		t.Errorf("want three lines, one of them bold, and a search field only where it is asked for: %s", page)
	}
}

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
	for file, got := range map[string]string{"grid.html": g.HTML(), "grid.txt": g.Text(80)} {
		path := filepath.Join("testdata", file)
		if *regen {
			must.Do(t, os.WriteFile(path, []byte(got), 0o666))
			continue
		}
		if want, err := os.ReadFile(path); err != nil || got != string(want) {
			t.Errorf("%s changed (%v):\n%s\nwant:\n%s", file, err, got, want)
		}
	}
	for line := range strings.SplitSeq(g.Text(50), "\n") {
		if n := columns(line); n > 50 {
			t.Errorf("line of %d characters, want at most 50: %s", n, line)
		}
	}
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

func TestGridNeverFillsAGapWithAPublishedNumber(t *testing.T) {
	c := Cell{Published: ptr(10)}
	if got := c.lines(true); !math.IsNaN(c.Difference()) || len(got) != 2 || got[0] != Missing || got[1] != "paper 10" {
		t.Errorf("a cell that was not run reads %q", got)
	}
}
