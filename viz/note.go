// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// noteRow is the height of the small line that says what bands and whiskers are.
const noteRow = vg.Length(11)

// noteStyle is its lettering.
func noteStyle() text.Style {
	style := typeface(7.5, false)
	style.Color = grey
	style.YAlign = text.YBottom
	return style
}

// setNote puts a note under the name of the horizontal axis; an empty one takes it away.
func setNote(p *plot.Plot, note string) {
	p.X.Label.TextStyle.Handler = plot.DefaultTextHandler
	p.X.Label.Text = strings.TrimSpace(p.X.Label.Text)
	if note != "" {
		p.X.Label.TextStyle.Handler = noted{plot.DefaultTextHandler, note}
		p.X.Label.Text += " " // gonum leaves no room for an axis without a name
	}
}

// noteOf is the note of a plot.
func noteOf(p *plot.Plot) string {
	n, _ := p.X.Label.TextStyle.Handler.(noted)
	return n.note
}

// noted writes the name of an axis with a note under it.
type noted struct {
	text.Handler
	note string
}

// Lines implements text.Handler: a text is as high as its lines.
func (n noted) Lines(name string) []string {
	if strings.TrimSpace(name) == "" {
		return []string{n.note}
	}
	return append(n.Handler.Lines(name), n.note)
}

// Draw implements text.Handler.
func (n noted) Draw(c vg.Canvas, name string, style text.Style, at vg.Point) {
	small := noteStyle()
	small.XAlign, small.YAlign = style.XAlign, style.YAlign
	small.Handler.Draw(c, n.note, small, at)
	style.Handler = n.Handler
	n.Handler.Draw(c, strings.TrimSpace(name), style, at.Add(vg.Point{Y: noteRow}))
}

// bandNote says what the bands of series are: the means that are drawn have bootstrap intervals where there are seeds for one.
func bandNote(series []Series) string {
	var notes []string
	fewest, most := 0, 0
	for _, s := range series {
		switch n := len(s.Y); {
		case s.Low != nil && s.Band != "" && !slices.Contains(notes, s.Band):
			notes = append(notes, s.Band)
		case s.Low == nil && n > 1 && fewest == 0:
			fewest, most = n, n
		case s.Low == nil && n > 1:
			fewest, most = min(fewest, n), max(most, n)
		}
	}
	if most > 0 {
		seeds := fmt.Sprintf("%d seeds", most)
		if fewest < most {
			seeds = fmt.Sprintf("%d to %d seeds", fewest, most)
		}
		notes = append([]string{"mean and bootstrap 95 % interval over " + seeds}, notes...)
	}
	return strings.Join(notes, "; ")
}
