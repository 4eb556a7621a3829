// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// awkward are names that do not fit, in letters that the typeface may lack, with line breaks and control characters.
var awkward = []string{strings.Repeat("a very long name ", 20), strings.Repeat("Wide", 60), strings.Repeat("強化学習", 30) + "😀",
	"two\nlines\tand a bell\x07\x00", "", "\xff\xfe"}

// figuresNamed are figures of every kind whose texts are all s.
func figuresNamed(t *testing.T, s string) map[string]*plot.Plot {
	t.Helper()
	f := Figure{Title: s, X: s, Y: s, Note: s, Marks: []mark{{From: 0.9, Label: s}}}
	var bars []Bar
	for i := range 9 {
		bars = append(bars, bar(fmt.Sprint(s, i), 1, 0.5, 1.5))
	}
	out := map[string]*plot.Plot{}
	for name, draw := range map[string]func() (*plot.Plot, error){
		"curves": func() (*plot.Plot, error) {
			dotted := Line(s, []float64{0, 1}, []float64{0, 1})
			dotted.Reference = true // along no negative width, which would take for ever
			return Curves(f, dotted, Line(s+" again", []float64{0, 1}, []float64{0, 2}))
		},
		"bars":    func() (*plot.Plot, error) { return Bars(f, Group{Bars: bars}) },
		"groups":  func() (*plot.Plot, error) { return Bars(f, Group{s, bars[:2]}, Group{s, bars[2:4]}) },
		"scatter": func() (*plot.Plot, error) { return scatter(f, cloud{Label: s, Points: [][2]float64{{0, 1}}}) },
	} {
		p := must.Get(draw())(t)
		out[name] = p
	}
	return out
}

// checkEdges reports a picture in which something touches the outermost pixels.
func checkEdges(t *testing.T, name string, m image.Image) {
	t.Helper()
	b := m.Bounds()
	for x := b.Min.X; x < b.Max.X; x++ {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			edge := x < b.Min.X+2 || x >= b.Max.X-2 || y < b.Min.Y+2 || y >= b.Max.Y-2
			if edge && color.NRGBAModel.Convert(m.At(x, y)) != color.Color(paper) {
				t.Errorf("%s: something leaves the picture at (%d, %d) of %v", name, x, y, b.Max)
				return
			}
		}
	}
}

func TestTextsStayInThePicture(t *testing.T) {
	for i, s := range awkward {
		for name, p := range figuresNamed(t, s) {
			checkEdges(t, fmt.Sprintf("%s %d", name, i), Plotted(p, Width, Height).Image())
			svg := must.Get(Plotted(p, Width, Height).SVG())(t)
			var err error
			for d := xml.NewDecoder(bytes.NewReader(svg)); err == nil; {
				_, err = d.Token()
			}
			if !errors.Is(err, io.EOF) {
				t.Errorf("the SVG of %s of %q: %v", name, s, err)
			}
			panels := NewPanels(3, p, p, p, p)
			panels.Title, panels.Legend = s, labelStyles(s, s+" again")
			checkEdges(t, fmt.Sprintf("panels of %s %d", name, i), panels.Drawing().Image())
		}
		boxes := Diagram{Title: s, Nodes: []Node{{Name: "a", Title: s, Lines: []string{s}}, {Name: "b", Column: 1}},
			Arrows: []Arrow{{From: "a", To: "b", Label: s}}}
		checkEdges(t, fmt.Sprintf("diagram %d", i), boxes.Image())
	}
}

func TestTextsAreFittedToTheirWidth(t *testing.T) {
	style := typeface(9, false)
	got := fitted(style.Width, "a\nname "+strings.Repeat("x", 99), vg.Inch)
	if style.Width(got) > vg.Inch || !strings.HasPrefix(got, "a name x") || !strings.HasSuffix(got, "…") {
		t.Errorf("fitted to %q", got)
	}
}

// A letter that the typeface lacks is drawn as a box. Joiners and variation selectors, which have no width, are not.
func TestLettersThatTheTypefaceLacksAreBoxes(t *testing.T) {
	for s, want := range map[string]string{"MAPPO-ε é −3…": "MAPPO-ε é −3…", "強化 a": "□□ a", "😀": "□", "👩\u200d👧\ufe0f": "□□"} {
		drawn := func(s string) string {
			var b bytes.Buffer
			c := vgsvg.New(Width, Height)
			canvas := draw.New(c)
			canvas.FillText(typeface(9, false), vg.Point{X: vg.Inch, Y: vg.Inch}, s)
			must.Get(c.WriteTo(&b))(t)
			return b.String()
		}
		if got := drawn(s); !strings.Contains(got, ">"+want+"<") || got != drawn(want) {
			t.Errorf("%q is drawn as %s, want %q", s, got, want)
		}
	}
}

// A name breaks no row, no line and no comment of a table.
func TestTablesKeepTheirRows(t *testing.T) {
	for _, s := range awkward {
		of := func(s string) ScoreTable {
			cells := []Cell{{Ours: 1, Low: math.NaN(), High: math.NaN(), Seeds: 1}}
			return ScoreTable{Title: s, Columns: []string{s}, Rows: []Row{{Group: s, Head: s, Cells: cells}}}
		}
		g, plain := of(s), of("plain")
		if got, want := strings.Count(g.HTML(), "\n"), strings.Count(plain.HTML(), "\n"); s != "" && got != want {
			t.Errorf("the HTML of %q has %d lines, want %d", s, got, want)
		}
		for line := range strings.SplitSeq(g.Text(80), "\n") {
			if n := columns(line); n > 80 {
				t.Errorf("a line of %d columns, want at most 80: %s", n, line)
			}
		}
		if box := (Box{Head: "h", Text: s, Lines: []string{s}}); strings.Count(box.Plain(), "\n") != 2 {
			t.Errorf("the box of %q is %q, want two lines", s, box.Plain())
		}
		table := Table{Title: "t", Header: []string{"a", s}, Rows: [][]string{{s, "1"}, {"日", "2"}}, Notes: []string{s}}
		for name, text := range map[string]string{"text": table.Text(), "Markdown": table.Markdown()} {
			want := map[string]int{"text": 5, "Markdown": 8}[name]
			if strings.ContainsAny(text, "\x00\x07\t") || strings.Count(text, "\n") != want {
				t.Errorf("%s of %q: %q, want %d lines", name, s, text, want)
			}
		}
		lines := strings.Split(Table{Header: []string{"a", "b"}, Rows: [][]string{{s, "1"}, {"日", "2"}}}.Text(), "\n")
		if len(lines) != 4 || columns(lines[1]) != columns(lines[2]) {
			t.Errorf("the rows of %q are %q, want two that end alike", s, lines)
		}
	}
}

// A scene with a shape that is nowhere, or far larger than the world, is drawn without it.
func TestScenesOfAnyNumbers(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e12, -1e300} {
		s := envs.Scene{MaxX: 1, MaxY: 1, Shapes: []envs.Shape{
			{Role: envs.RoleAgent, X: v, Radius: 0.1}, {Role: envs.RoleNoise, X: 0.5, Y: 0.5, Radius: math.Abs(v)},
			{Role: envs.RoleObject, X: 0.5, Y: v, Width: 0.1, Height: 0.1, Angle: v}, {Role: envs.RoleSensor, Width: v}}}
		if _, err := Strip([]envs.Scene{s, s}, 1); err != nil {
			t.Error(err)
		}
	}
}

func TestNotesOfPanelsAreBrokenToTheirWidth(t *testing.T) {
	const note = "mean of 2 to 5 seeds, which are the dots; bands: standard deviation over runs; other lines are one seed each"
	const width = 2 * vg.Inch
	broken := wrapped(noteStyle().Width, note, width, 9)
	if strings.ReplaceAll(broken, "\n", " ") != note || !strings.Contains(broken, "\n") {
		t.Errorf("broken to %q", broken)
	}
	for line := range strings.SplitSeq(broken, "\n") {
		if w := noteStyle().Width(line); w > width {
			t.Errorf("%q is %v wide, want %v at most", line, w, width)
		}
	}
	short := []float64{0, 1}
	one, two := Line("qmix", short, short), Series{Label: "mappo", X: short, Y: [][]float64{short, short}}
	panels := must.Get(CurvePanels(2, Chart{Series: []Series{one}}, Chart{Series: []Series{two}}))(t)
	if got, want := notesOf(panels.Rows), "mean of 2 seeds, which are the dots; other lines are one seed each"; got != want {
		t.Errorf("the note of two panels is %q, want %q", got, want)
	}
	panels.Rows[0][0].TextHandler = annotated{lettering, note, 0}
	panels.Rows = append(panels.Rows, panels.Rows[0])
	if got, want := notesOf(panels.Rows), note+"; mean of 2 seeds, which are the dots; other lines are one seed each"; got != want {
		t.Errorf("two notes are joined to %q, want %q", got, want)
	}
}
