// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"html"
	"math"
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

	// The heads of rows stay in sight while a page scrolls the table, no cell breaks, and notes after the first are
	// folded.
	wide bool
}

// AddColumn appends a column. The first column of a table makes its rows.
func (t *Table) AddColumn(head string, cells ...string) {
	t.Header = append(t.Header, head)
	for i, cell := range cells {
		if i == len(t.Rows) {
			t.Rows = append(t.Rows, nil)
		}
		t.Rows[i] = append(t.Rows[i], cell)
	}
}

// below stands between the lines of a cell, and emphasis before a number that is bold on a page.
const below, emphasis = "\u2028", "★"

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
		for j, c := range cells {
			own := style
			if t.wide && j == 0 {
				own += sticky
			}
			fmt.Fprintf(&b, `<%s style="text-align:left%s">%s</%s>`, tag, own, page(c), tag)
		}
		b.WriteString("</tr>\n")
	}
	line("th", "", t.Header)
	for i, row := range t.Rows {
		style := ""
		if slices.Contains(t.Marked, i) {
			style = ";font-weight:bold"
		}
		if t.wide {
			style += ";white-space:nowrap;padding:2px 4px"
		}
		line("td", style, row)
	}
	b.WriteString("</table></div>\n")
	if t.Search {
		b.WriteString("</div>\n")
	}
	for i, note := range t.Notes {
		if t.wide && i > 0 {
			fmt.Fprintf(&b, "<details><summary><small>Conditions</small></summary><small>%s</small></details>\n", escaped(note))
		} else {
			fmt.Fprintf(&b, "<p><small>%s</small></p>\n", escaped(note))
		}
	}
	return b.String()
}

// sticky keeps the names of rows in sight while a wide table is scrolled, on the page's own background.
const sticky = ";position:sticky;left:0;z-index:1;background:var(--jp-layout-color0,Canvas)"

// search hides the rows of the table beside a field that do not hold the field's text.
const search = `for (const r of this.parentNode.querySelectorAll('tr')) ` +
	`r.hidden = r.querySelector('td') && !r.textContent.toLowerCase().includes(this.value.toLowerCase())`

// page is a cell in HTML: intervals are not broken, and lines after the first are small.
func page(cell string) string {
	lines := strings.Split(cell, below)
	for i, line := range lines {
		text, bold := strings.CutPrefix(signed(line), emphasis)
		text = interval.ReplaceAllString(escaped(text), `<span style="white-space:nowrap">$0</span>`)
		switch {
		case bold:
			text = "<b>" + text + "</b>"
		case i > 0:
			text = `<small style="opacity:.75">` + text + `</small>`
		}
		lines[i] = text
	}
	return strings.Join(lines, "<br>")
}

var interval = regexp.MustCompile(`\[[-+−.\d]+, [-+−.\d]+\]`)

// escaped is a text in one line of HTML.
func escaped(s string) string { return html.EscapeString(oneLine(s)) }

// Text renders the table in aligned columns.
func (t Table) Text() string { return t.text(math.MaxInt) }

// text renders the table for a terminal so many characters wide; columns that do not fit follow in further blocks.
func (t Table) text(width int) string {
	most := (width - 2) / 2 // of a cell
	var lines [][]string
	for i, row := range slices.Insert(slices.Clone(t.Rows), 0, t.Header) {
		lines = append(lines, textLines(row, most, len(t.Marked) > 0, slices.Contains(t.Marked, i-1))...)
	}
	widths := make([]int, len(t.Header))
	for _, line := range lines {
		for j, c := range line {
			widths[j] = max(widths[j], columns(c))
		}
	}
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(wrapped(columns, t.Title, width, len(t.Title)) + "\n")
	}
	for start, end := 1, 1; len(lines) > 0 && (start == 1 || start < len(widths)); start = end {
		used := widths[0]
		for end < len(widths) && (end == start || used+2+widths[end] <= width) {
			used += 2 + widths[end]
			end++
		}
		for _, line := range lines {
			row := pad(line[0], widths[0])
			for j := start; j < end; j++ {
				row += "  " + pad(line[j], widths[j])
			}
			b.WriteString(strings.TrimRight(row, " ") + "\n")
		}
		if end = max(end, 2); end < len(widths) {
			b.WriteString("\n")
		}
	}
	for _, note := range t.Notes {
		b.WriteString(wrapped(columns, note, width, len(note)) + "\n")
	}
	return b.String()
}

// textLines are the lines of a row of a text table. A line has one line of every cell, of at most so many columns.
func textLines(row []string, most int, marking, marked bool) (out [][]string) {
	for j, cell := range row {
		for i, line := range strings.Split(cell, below) {
			if i == len(out) {
				out = append(out, make([]string, len(row)))
			}
			out[i][j] = fitted(columns, signed(line), most)
		}
	}
	for i := range out {
		if marking {
			out[i][0] = map[bool]string{true: "* ", false: "  "}[marked && i == 0] + out[i][0]
		}
	}
	return out
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-columns(s))) }

// signed is a text in one line with real minus signs, however its numbers were written; the hyphens of names stay.
func signed(s string) string {
	return negative.ReplaceAllString(nothing.ReplaceAllString(oneLine(s), "$1$2"), "$1−$2")
}

// nothing matches a number that was rounded to zero but kept its sign.
var nothing = regexp.MustCompile(`(^|[\s\[(])-(\.?0+(?:\.0+)?(?:$|[\s,\])]))`)

var negative = regexp.MustCompile(`(^|[\s\[(])-(\.?\d)`)

// columns is the width of a text in columns of a terminal. CJK letters and emoji take two.
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
	line := func(cells []string, around string) {
		for _, c := range cells {
			b.WriteString("| " + around + strings.ReplaceAll(signed(c), "|", `\|`) + around + " ")
		}
		b.WriteString("|\n")
	}
	line(t.Header, "")
	b.WriteString(strings.Repeat("|---", len(t.Header)) + "|\n")
	for i, row := range t.Rows {
		line(row, map[bool]string{true: "**", false: ""}[slices.Contains(t.Marked, i)])
	}
	for _, note := range t.Notes {
		b.WriteString("\n" + oneLine(note) + "\n")
	}
	return b.String()
}

// BoxMark is the kind of a Box.
type BoxMark int

// The marks: a sign and the colour of the edge, from the palette that colour-blind readers can distinguish.
const (
	Open BoxMark = iota // –, grey
	Good                // ✓, blue
	Bad                 // ✗, orange
)

var signs = map[BoxMark]struct{ sign, colour string }{Open: {"–", "#888888"}, Good: {"✓", "#0072B2"},
	Bad: {"✗", "#D55E00"}}

// Box is a short text at the top of a notebook: a heading with a mark, its subject, and lines of evidence.
type Box struct {
	Mark  BoxMark
	Head  string // "supported"
	Text  string
	Lines []string
}

// HTML renders the box for a notebook. More than three lines fold away.
func (b Box) HTML() string {
	s := signs[b.Mark]
	var out strings.Builder
	fmt.Fprintf(&out, `<div style="border-left:6px solid %s;padding:4px 12px;margin:4px 0"><b>%s %s</b>: %s`+"\n",
		s.colour, s.sign, escaped(b.Head), escaped(b.Text))
	for i, line := range b.Lines {
		if i == 3 {
			fmt.Fprintf(&out, "<details><summary><small>%d more</small></summary>\n", len(b.Lines)-i)
		}
		fmt.Fprintf(&out, "<div><small>%s</small></div>\n", escaped(line))
	}
	if len(b.Lines) > 3 {
		out.WriteString("</details>\n")
	}
	return out.String() + "</div>\n"
}

// Plain renders the box as text.
func (b Box) Plain() string {
	out := fmt.Sprintf("%s %s: %s\n", signs[b.Mark].sign, oneLine(b.Head), oneLine(b.Text))
	for _, line := range b.Lines {
		out += "  " + oneLine(line) + "\n"
	}
	return out
}
