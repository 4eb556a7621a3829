// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"html"
	"strings"
)

// each calls group before the first row of every named group, and row for every row.
func (g ScoreTable) each(group func(name string), row func(Row)) {
	for i, r := range g.Rows {
		if r.Group != "" && (i == 0 || g.Rows[i-1].Group != r.Group) {
			group(r.Group)
		}
		row(r)
	}
}

// HTML renders the grid for a notebook. It sets no colours, so that it reads on light and dark pages.
func (g ScoreTable) HTML() string {
	var b strings.Builder
	b.WriteString(`<div style="overflow-x:auto">` + "\n")
	if g.Title != "" {
		fmt.Fprintf(&b, "<p><b>%s</b></p>\n", escaped(g.Title))
	}
	b.WriteString(`<table style="font-size:90%">` + "\n<thead><tr><th></th>")
	for _, c := range g.Columns {
		fmt.Fprintf(&b, `<th style="text-align:center">%s</th>`, escaped(c))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	perCell := g.effort() == ""
	g.each(func(name string) {
		fmt.Fprintf(&b, `<tr><td colspan="%d" style="text-align:left"><i>%s</i></td></tr>`+"\n", len(g.Columns)+1, escaped(name))
	}, func(r Row) {
		head := escaped(r.head())
		if r.Ours != "" {
			head = "&emsp;<i>" + head + "</i>"
		}
		fmt.Fprintf(&b, `<tr><td style="%s">%s</td>`, sticky, head)
		for _, c := range r.Cells {
			fmt.Fprintf(&b, `<td style="text-align:center;white-space:nowrap;padding:2px 4px">%s</td>`, c.html(perCell))
		}
		b.WriteString("</tr>\n")
	})
	fmt.Fprintf(&b, "</tbody></table>\n<p><small>%s</small></p>\n</div>\n", escaped(g.about()))
	return b.String()
}

// sticky keeps the names of rows in sight while a wide table is scrolled, on the page's own background.
const sticky = "text-align:left;position:sticky;left:0;z-index:1;background:var(--jp-layout-color0,Canvas)"

// escaped is a text in one line of HTML.
func escaped(s string) string { return html.EscapeString(oneLine(s)) }

// html is the cell in up to six lines: ours, its notes, published.
func (c Cell) html(perCell bool) string {
	lines := []string{c.ours()}
	if c.Bold {
		lines[0] = "<b>" + lines[0] + "</b>"
	}
	notes := c.notes(perCell)
	small := notes[:]
	if c.Published != nil {
		small = append(small, "paper "+c.compared())
	}
	for _, s := range small {
		if s != "" {
			lines = append(lines, smallOpen+s+`</small>`)
		}
	}
	return strings.Join(lines, "<br>")
}

const smallOpen = `<small style="opacity:.75">`

// Text renders the grid for a terminal of the given width in characters: columns that do not fit follow in further
// blocks. A star stands before a number that is bold elsewhere.
func (g ScoreTable) Text(width int) string {
	var b strings.Builder
	if g.Title != "" {
		b.WriteString(wrapped(columns, g.Title, width, len(g.Title)) + "\n\n")
	}
	table := g.textCells()
	widths := columnWidths(table)
	for start := 1; start <= len(g.Columns); {
		end, used := start, widths[0]
		for end <= len(g.Columns) && (end == start || used+2+widths[end] <= width) {
			used += 2 + widths[end]
			end++
		}
		for i, line := range table {
			if i == 1 {
				b.WriteString(strings.Repeat("─", used) + "\n")
			}
			row := pad(line[0], widths[0])
			for j := start; j < end; j++ {
				row += "  " + pad(line[j], widths[j])
			}
			b.WriteString(strings.TrimRight(row, " ") + "\n")
		}
		b.WriteString("\n")
		start = end
	}
	about := strings.Replace(g.about(), "Bold:", "★:", 1)
	return b.String() + wrapped(columns, about, width, len(about)) + "\n"
}

// textCells lays the grid out in lines: a heading, then for each row a line of ours and one of published numbers.
func (g ScoreTable) textCells() [][]string {
	perCell := g.effort() == ""
	short := func(s string) string { return fitted(columns, cut(oneLine(s), longestName/2), longestName) }
	out := [][]string{{""}}
	for _, c := range g.Columns {
		out[0] = append(out[0], short(c))
	}
	g.each(func(name string) {
		heading := make([]string, len(g.Columns)+1)
		heading[0] = "[" + short(name) + "]"
		out = append(out, heading)
	}, func(r Row) {
		ours, published := []string{short(r.head())}, []string{"  published"}
		if r.Ours != "" {
			ours[0] = "  " + ours[0]
		}
		for _, c := range r.Cells {
			line := c.ours()
			if c.Bold {
				line = "★" + line
			}
			for k, note := range c.notes(perCell) {
				line += before([...]string{" ", ", ", " ", ", "}[k], note)
			}
			ours, published = append(ours, line), append(published, c.compared())
		}
		if out = append(out, ours); r.compares() {
			out = append(out, published)
		}
	})
	return out
}

// before puts a separator in front of s unless s is empty.
func before(separator, s string) string {
	if s == "" {
		return ""
	}
	return separator + s
}
