// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"encoding/csv"
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

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
	for i, r := range g.Rows {
		if g.opens(i) {
			fmt.Fprintf(&b, `<tr><td colspan="%d" style="text-align:left"><i>%s</i></td></tr>`+"\n",
				len(g.Columns)+1, escaped(r.Group))
		}
		head := escaped(r.head())
		if r.Ours != "" {
			head = "&emsp;<i>" + head + "</i>"
		}
		fmt.Fprintf(&b, `<tr><td style="text-align:left">%s</td>`, head)
		for _, c := range r.Cells {
			fmt.Fprintf(&b, `<td style="text-align:center;white-space:nowrap">%s</td>`, c.html(perCell))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	fmt.Fprintf(&b, "<p><small>%s</small></p>\n</div>\n", escaped(strings.TrimSpace(g.Caption+" "+g.guide())))
	return b.String()
}

// escaped is a text in one line of HTML.
func escaped(s string) string { return html.EscapeString(oneLine(s)) }

// html is the cell in up to six lines: ours, interval, first steps, effort, dense, published.
func (c Cell) html(perCell bool) string {
	lines := []string{c.ours()}
	if c.Bold {
		lines[0] = "<b>" + lines[0] + "</b>"
	}
	small := func(s string) {
		if s != "" {
			lines = append(lines, smallOpen+s+`</small>`)
		}
	}
	small(c.interval())
	small(c.first())
	if perCell {
		small(c.effort())
	}
	small(c.dense(perCell))
	if c.Published != nil {
		small(strings.TrimSpace("paper " + c.published() + " " + parenthesis(c.difference())))
	}
	return strings.Join(lines, "<br>")
}

// markdown turns a cell's HTML into Markdown; only the line breaks stay HTML.
var markdown = strings.NewReplacer("<b>", "**", "</b>", "**", smallOpen, "", "</small>", "")

const smallOpen = `<small style="opacity:.75">`

// Markdown renders the grid for a page of text.
func (g ScoreTable) Markdown() string {
	var b strings.Builder
	if g.Title != "" {
		fmt.Fprintf(&b, "**%s**\n\n", plainMarkdown(g.Title))
	}
	b.WriteString("| |")
	for _, c := range g.Columns {
		b.WriteString(" " + plainMarkdown(c) + " |")
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---|", len(g.Columns)))
	perCell := g.effort() == ""
	for i, r := range g.Rows {
		if g.opens(i) {
			fmt.Fprintf(&b, "| *%s* |%s\n", plainMarkdown(r.Group), strings.Repeat(" |", len(g.Columns)))
		}
		cells := make([]string, len(r.Cells))
		for j, c := range r.Cells {
			cells[j] = markdown.Replace(c.html(perCell))
		}
		head := plainMarkdown(r.head())
		if r.Ours != "" {
			head = "*" + head + "*"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", head, strings.Join(cells, " | "))
	}
	fmt.Fprintf(&b, "\n%s\n", plainMarkdown(strings.TrimSpace(g.Caption+" "+g.guide())))
	return b.String()
}

// plainMarkdown writes text so that none of its signs sets letters or ends a cell: the star of Balance* is one.
func plainMarkdown(s string) string { return markdownSigns.Replace(oneLine(s)) }

var markdownSigns = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "|", `\|`, "`", "\\`", "<", `\<`)

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// Text renders the grid for a terminal of the given width in characters: columns that do not fit follow in further
// blocks. A star stands before a number that is bold elsewhere.
func (g ScoreTable) Text(width int) string {
	var b strings.Builder
	if g.Title != "" {
		b.WriteString(wrapped(columns, g.Title, width, len(g.Title)) + "\n\n")
	}
	table := g.textCells()
	widths := make([]int, len(g.Columns)+1)
	for _, line := range table {
		for j, s := range line {
			widths[j] = max(widths[j], columns(s))
		}
	}
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
	caption := g.Caption + " " + strings.Replace(g.guide(), "Bold:", "★:", 1)
	return b.String() + wrapped(columns, caption, width, len(caption)) + "\n"
}

// textCells lays the grid out in lines: a heading, then for each row a line of ours and one of published numbers.
func (g ScoreTable) textCells() [][]string {
	perCell := g.effort() == ""
	short := func(s string) string { return fitted(columns, cut(oneLine(s), longestName/2), longestName) }
	out := [][]string{{""}}
	for _, c := range g.Columns {
		out[0] = append(out[0], short(c))
	}
	for i, r := range g.Rows {
		if g.opens(i) {
			heading := make([]string, len(g.Columns)+1)
			heading[0] = "[" + short(r.Group) + "]"
			out = append(out, heading)
		}
		ours, published := []string{short(r.head())}, []string{"  published"}
		if r.Ours != "" {
			ours[0] = "  " + ours[0]
		}
		compare := false
		for _, c := range r.Cells {
			line := c.ours()
			if c.Bold {
				line = "★" + line
			}
			line += before(" ", c.interval()) + before(", ", c.first())
			if perCell {
				line += before(" ", c.effort())
			}
			line += before(", ", c.dense(perCell))
			ours = append(ours, line)
			published = append(published, c.published()+before(" ", parenthesis(c.difference())))
			compare = compare || c.Published != nil
		}
		out = append(out, ours)
		if compare {
			out = append(out, published)
		}
	}
	return out
}

// before puts a separator in front of s unless s is empty.
func before(separator, s string) string {
	if s == "" {
		return ""
	}
	return separator + s
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}

// CSV renders one line a cell, with every number in full. Missing values are empty.
func (g ScoreTable) CSV() string {
	var b strings.Builder
	w := csv.NewWriter(&b) // a strings.Builder does not fail
	w.Write([]string{"group", "row", "column", "ours", "low", "high", "seeds", "frames", "published", "spread", "difference", "bold", "budget", "departures", "first_steps", "dense", "dense_low", "dense_high", "dense_seeds"})
	for _, r := range g.Rows {
		for j, c := range r.Cells {
			line := []string{r.Group, r.Head + before(", ", r.Ours), g.Columns[j], "", "", "", strconv.Itoa(c.Seeds), strconv.Itoa(c.Frames),
				pointed(c.Published), pointed(c.Spread), exact(c.Difference()), strconv.FormatBool(c.Bold), g.Budget, strings.Join(c.Departures, " "), "", "", "", "", ""}
			if c.Seeds > 0 {
				line[3], line[4], line[5] = exact(c.Ours), exact(c.Low), exact(c.High)
				if c.FirstSteps > 0 {
					line[14] = exact(c.First)
				}
			}
			if d := c.Dense; d != nil && d.Seeds > 0 {
				line[15], line[16], line[17], line[18] = exact(d.Ours), exact(d.Low), exact(d.High), strconv.Itoa(d.Seeds)
			}
			w.Write(line)
		}
	}
	w.Flush()
	return b.String()
}

func exact(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func pointed(v *float64) string {
	if v == nil {
		return ""
	}
	return exact(*v)
}

// LaTeX renders the grid as a booktabs tabular: ours with interval and, where they differ, seeds and frames; below it the published
// number and the difference to it. Caption and what must be loaded stand in comments.
func (g ScoreTable) LaTeX() string {
	var b strings.Builder
	for _, line := range []string{g.Title, g.Caption, g.guide(), `Needs \usepackage{booktabs}; a wide table also \usepackage{graphicx} and \resizebox{\textwidth}{!}{...} around it.`} {
		if line != "" {
			fmt.Fprintf(&b, "%% %s\n", oneLine(line))
		}
	}
	fmt.Fprintf(&b, "\\begin{tabular}{l%s}\n\\toprule\n", strings.Repeat("c", len(g.Columns)))
	for _, c := range g.Columns {
		b.WriteString(" & " + latex(c))
	}
	b.WriteString(" \\\\\n\\midrule\n")
	perCell := g.effort() == ""
	for i, r := range g.Rows {
		if g.opens(i) {
			fmt.Fprintf(&b, "\\multicolumn{%d}{l}{\\emph{%s}} \\\\\n", len(g.Columns)+1, latex(r.Group))
		}
		ours, published := latex(r.head()), "\\quad published"
		if r.Ours != "" {
			ours = "\\quad \\emph{" + ours + "}"
		}
		compare := false
		for _, c := range r.Cells {
			value := latex(c.ours())
			if c.Bold {
				value = "\\textbf{" + value + "}"
			}
			ours += " & " + value + scriptsize(c.interval()) + scriptsize(c.first())
			if perCell {
				ours += scriptsize(c.effort())
			}
			ours += scriptsize(c.dense(perCell))
			published += " & {\\scriptsize " + latex(c.published()+before(" ", parenthesis(c.difference()))) + "}"
			compare = compare || c.Published != nil
		}
		b.WriteString(ours + " \\\\\n")
		if compare {
			b.WriteString(published + " \\\\\n")
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return b.String()
}

// scriptsize sets s small after a space, and nothing if s is empty.
func scriptsize(s string) string {
	if s == "" {
		return ""
	}
	return " {\\scriptsize " + latex(s) + "}"
}

// latex escapes what is special there and sets the symbols that the tables use.
func latex(s string) string {
	return strings.NewReplacer(`\`, `\textbackslash{}`, "_", `\_`, "&", `\&`, "%", `\%`, "#", `\#`, "$", `\$`,
		"−", "$-$", "±", "$\\pm$", "×", "$\\times$", "–", "--", "α", "$\\alpha$", "ε", "$\\epsilon$", "Δ", "$\\Delta$", "^", `\^{}`,
		"{", `\{`, "}", `\}`).Replace(oneLine(s))
}
