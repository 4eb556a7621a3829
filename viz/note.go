// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
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
	p.X.Label.TextStyle.Handler = lettering
	p.X.Label.Text = strings.TrimSpace(p.X.Label.Text)
	if note != "" {
		p.X.Label.TextStyle.Handler = noted{lettering, note}
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

// own are the lines of the note.
func (n noted) own() []string { return strings.Split(n.note, "\n") }

// Lines implements text.Handler: a text is as high as its lines.
func (n noted) Lines(name string) []string {
	if strings.TrimSpace(name) == "" {
		return n.own()
	}
	return append(n.Handler.Lines(name), n.own()...)
}

// Box implements text.Handler. The note takes no width: as the name of an axis it would move the right end of a narrow
// plot, since gonum finds the two ends from the boxes that stick out farthest, and plots that are to be aligned would
// leave the picture.
func (n noted) Box(line string, f font.Font) (width, height, depth vg.Length) {
	width, height, depth = n.Handler.Box(line, f)
	if slices.Contains(n.own(), line) {
		width = 0
	}
	return width, height, depth
}

// Draw implements text.Handler.
func (n noted) Draw(c vg.Canvas, name string, style text.Style, at vg.Point) {
	small := noteStyle()
	small.XAlign, small.YAlign = style.XAlign, style.YAlign
	lines := n.own()
	for i, line := range lines {
		small.Handler.Draw(c, line, small, at.Add(vg.Point{Y: noteRow * vg.Length(len(lines)-1-i)}))
	}
	style.Handler = n.Handler
	n.Handler.Draw(c, strings.TrimSpace(name), style, at.Add(vg.Point{Y: noteRow * vg.Length(len(lines))}))
}

// bandNote says what stands around the means of series: up to five seeds each by itself, of more a bootstrap interval.
func bandNote(series []Series) string {
	var given []string
	var few, more []int // numbers of seeds
	shape, alone, bare := "dots", false, false
	for _, s := range series {
		n := len(s.Y)
		switch single := n == 1 && !s.Reference && s.Label != ""; {
		case s.Low != nil:
			if s.Band != "" && !slices.Contains(given, s.Band) {
				given = append(given, s.Band)
			}
		case n < 2:
			alone, bare = alone || single && s.Band == "", bare || single && s.Band != ""
		case n > dotSeeds:
			more = append(more, n)
		default:
			if few = append(few, n); len(s.X) > manyPoints {
				shape = "thin lines"
			}
		}
	}
	var notes []string
	if few != nil {
		notes = append(notes, "mean of "+seeds(few)+", which are the "+shape)
	}
	if more != nil {
		notes = append(notes, "mean and bootstrap 95 % interval over "+seeds(more))
	}
	if notes = append(notes, given...); alone && len(notes) > 0 {
		notes = append(notes, "other lines are one seed each")
	}
	if bare && len(given) > 0 {
		notes = append(notes, "lines without one have too few runs for it")
	}
	return strings.Join(notes, "; ")
}

// seeds names a number of seeds, or the range of several.
func seeds(n []int) string {
	if low, high := slices.Min(n), slices.Max(n); low < high {
		return fmt.Sprintf("%d to %d seeds", low, high)
	}
	return fmt.Sprintf("%d seeds", n[0])
}
