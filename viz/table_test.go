// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"strings"
	"testing"

	"cermic/cermiclib/theory"
)

func TestTableAlignsTextAndEscapesHTML(t *testing.T) {
	table := Table{
		Title: "Tasks", Header: []string{"task", "α"}, Rows: [][]string{{"a<b", "0.25"}, {"αβγδεζ", "1"}}, Notes: []string{"one & two"},
	}
	want := "Tasks\ntask    α\na<b     0.25\nαβγδεζ  1\none & two\n"
	if got := table.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	page := table.HTML()
	for _, want := range []string{"a&lt;b", "one &amp; two", "<b>Tasks</b>"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s does not contain %s", page, want)
		}
	}
	if n := strings.Count(page, "<tr>"); n != 3 {
		t.Errorf("%d lines, want a header and two rows", n)
	}
}

func TestTablesHaveRealMinusSigns(t *testing.T) {
	table := Table{Header: []string{"mappo-2", "x"}, Rows: [][]string{{"qmix-3, 2024-05", "-0.50 [-1.2, -.3] (-4) 1e-05 -0.000 -0.001 (-0)"}}}
	const name, numbers = "qmix-3, 2024-05", "−0.50 [−1.2, −.3] (−4) 1e-05 0.000 −0.001 (0)"
	const unbroken = `<span style="white-space:nowrap">[−1.2, −.3]</span>`
	page := table.HTML()
	if !strings.Contains(page, unbroken) {
		t.Errorf("an interval may be cut at the end of a line in %s", page)
	}
	for form, got := range map[string]string{"Text": table.Text(), "HTML": strings.ReplaceAll(page, unbroken, "[−1.2, −.3]")} {
		if !strings.Contains(got, name) || !strings.Contains(got, numbers) {
			t.Errorf("%s is %s, want %q and %q in it", form, got, name, numbers)
		}
	}
}

func TestMarkedRowsStandOutAndASearchFieldCanBeAsked(t *testing.T) {
	table := Table{Header: []string{"a"}, Rows: [][]string{{"x"}, {"y"}}, Marked: []int{1}, Search: true}
	if got := table.HTML(); strings.Count(got, "bold") != 1 || !strings.Contains(got, `bold">y<`) || !strings.Contains(got, `<input type="search"`) {
		t.Errorf("got %s", got)
	}
	if got := table.Text(); !strings.Contains(got, "\n  x\n* y\n") {
		t.Errorf("got %q", got)
	}
	if got := (Table{Header: []string{"a"}}).HTML(); strings.Contains(got, "<input") {
		t.Errorf("a search field that nobody asked for: %s", got)
	}
}

func TestTablesHaveAMarkdownForm(t *testing.T) {
	table := Table{Title: "T", Header: []string{"a", "b"}, Rows: [][]string{{"x|y", "-1"}, {"z", "2"}}, Marked: []int{1}, Notes: []string{"n"}}
	const want = "**T**\n\n| a | b |\n|---|---|\n| x\\|y | −1 |\n| **z** | **2** |\n\nn\n"
	if got := table.Markdown(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A table of theory is shown whole.
func TestTheoryTableKeepsEveryPart(t *testing.T) {
	from := theory.Report{Title: "T", Header: []string{"a"}, Rows: [][]string{{"x"}}, Notes: []string{"n"}}
	if got := TheoryTable(&from).Text(); got != "T\na\nx\nn\n" {
		t.Errorf("got %q", got)
	}
}
