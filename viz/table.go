// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Table is cells of text under a header. For measured numbers beside published ones there is ScoreTable.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string // of the header's length
	Notes  []string

	Search bool  // a notebook shows a field above the table that hides the rows without the text in it
	Marked []int // rows that stand out
}

// HTML renders the table for a notebook. It sets no colours, so that it reads on light and dark pages.
func (t Table) HTML() string {
	var b strings.Builder
	if t.Title != "" {
		fmt.Fprintf(&b, "<p><b>%s</b></p>\n", escaped(t.Title))
	}
	if t.Search {
		b.WriteString(`<div><input type="search" placeholder="search" oninput="` + search + `">`)
	}
	b.WriteString(`<div style="overflow-x:auto"><table style="font-size:90%">` + "\n")
	line := func(tag, style string, cells []string) {
		b.WriteString("<tr>")
		for _, c := range cells {
			fmt.Fprintf(&b, `<%s style="text-align:left%s">%s</%s>`, tag, style, unbroken(escaped(c)), tag)
		}
		b.WriteString("</tr>\n")
	}
	line("th", "", signed(t.Header))
	for i, row := range t.Rows {
		style := ""
		if slices.Contains(t.Marked, i) {
			style = ";font-weight:bold"
		}
		line("td", style, signed(row))
	}
	b.WriteString("</table></div>\n")
	if t.Search {
		b.WriteString("</div>\n")
	}
	for _, note := range t.Notes {
		fmt.Fprintf(&b, "<p><small>%s</small></p>\n", escaped(note))
	}
	return b.String()
}

var interval = regexp.MustCompile(`\[[-+−.\d]+, [-+−.\d]+\]`)

// unbroken keeps intervals on one line each.
func unbroken(cell string) string {
	return interval.ReplaceAllString(cell, `<span style="white-space:nowrap">$0</span>`)
}

// search hides the rows of the table beside a field that do not hold the field's text.
const search = `for (const r of this.parentNode.querySelectorAll('tr')) ` +
	`r.hidden = r.querySelector('td') && !r.textContent.toLowerCase().includes(this.value.toLowerCase())`

// Text renders the table in aligned columns.
func (t Table) Text() string {
	lines := [][]string{signed(t.Header)}
	for _, row := range t.Rows {
		lines = append(lines, signed(row))
	}
	width := columnWidths(lines)
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(oneLine(t.Title) + "\n")
	}
	for i, line := range lines {
		var out strings.Builder
		if len(t.Marked) > 0 {
			out.WriteString(map[bool]string{true: "* ", false: "  "}[slices.Contains(t.Marked, i-1)])
		}
		for j, c := range line {
			out.WriteString(pad(c, width[j]+2))
		}
		b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
	}
	for _, note := range t.Notes {
		b.WriteString(oneLine(note) + "\n")
	}
	return b.String()
}

// columnWidths are the widths of the columns of a text table.
func columnWidths(lines [][]string) []int {
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for j, c := range line {
			width[j] = max(width[j], columns(c))
		}
	}
	return width
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-columns(s))) }

// signed is a line of cells, each in one line, with real minus signs, however their numbers were written; the hyphens
// of names stay.
func signed(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = negative.ReplaceAllString(nothing.ReplaceAllString(oneLine(c), "$1$2"), "$1−$2")
	}
	return out
}

// nothing is a number so small that only its sign was left.
var nothing = regexp.MustCompile(`(^|[\s\[(])-(\.?0+(?:\.0+)?(?:$|[\s,\])]))`)

var negative = regexp.MustCompile(`(^|[\s\[(])-(\.?\d)`)

// columns is how many columns of a terminal a text takes: letters of CJK and emoji take two.
func columns(s string) (n int) {
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Cf):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul),
			r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r < 0x1fb00: // full-width signs, emoji
			n += 2
		default:
			n++
		}
	}
	return n
}

// Markdown renders the table as GitHub shows it.
func (t Table) Markdown() string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString("**" + oneLine(t.Title) + "**\n\n")
	}
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(signed(t.Header))
	b.WriteString(strings.Repeat("|---", len(t.Header)) + "|\n")
	for i, row := range t.Rows {
		cells := signed(row)
		for j := range cells {
			cells[j] = strings.ReplaceAll(cells[j], "|", `\|`)
			if slices.Contains(t.Marked, i) {
				cells[j] = "**" + cells[j] + "**"
			}
		}
		line(cells)
	}
	for _, note := range t.Notes {
		b.WriteString("\n" + oneLine(note) + "\n")
	}
	return b.String()
}
