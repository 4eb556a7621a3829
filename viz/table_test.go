// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"strings"
	"testing"

	"cermic/viz"
)

func TestTableAlignsTextAndEscapesHTML(t *testing.T) {
	table := viz.Table{
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
