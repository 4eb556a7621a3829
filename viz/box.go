// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"strings"
)

// BoxMark is the kind of a Box.
type BoxMark int

// The marks: a sign and the colour of the edge, of the palette that colour-blind readers can tell apart.
const (
	Open BoxMark = iota // –, grey
	Good                // ✓, blue
	Bad                 // ✗, orange
)

var signs = map[BoxMark]struct{ sign, colour string }{Open: {"–", "#888888"}, Good: {"✓", "#0072B2"}, Bad: {"✗", "#D55E00"}}

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
