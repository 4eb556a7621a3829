// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Node is a box of a Diagram.
type Node struct {
	Name        string   // name used by arrows
	Title       string   // first line, bold
	Lines       []string // below it
	Column, Row float64  // of its centre; halves are fine
	Kind        NodeKind
}

// NodeKind is the meaning of a box, which decides its look.
type NodeKind int

// The kinds of boxes.
const (
	Data    NodeKind = iota // numbers that are passed on: a plain box
	Network                 // something with parameters: a filled box
	Loss                    // what is minimised: a heavy frame
	Reward                  // a reward: a heavy frame in the reward's colour
)

// Arrow leads from one box to another.
type Arrow struct {
	From, To string
	Label    string
	Dashed   bool // no gradient passes
}

// Diagram is a drawing of boxes and arrows on a grid of columns and rows, the first row at the top.
type Diagram struct {
	Title  string
	Nodes  []Node
	Arrows []Arrow
}

// The measures of a diagram.
const (
	diagramColumn = 112 // points from column to column
	diagramRow    = 74
	diagramBox    = 92 // width of a box
	diagramMargin = 14
	diagramHead   = 24 // height of the title
)

// Check reports the first arrow that leads nowhere.
func (d Diagram) Check() error {
	for _, a := range d.Arrows {
		for _, end := range []string{a.From, a.To} {
			if !slices.ContainsFunc(d.Nodes, func(n Node) bool { return n.Name == end }) {
				return fmt.Errorf("diagram %q: an arrow leads to or from %q, which is no box", d.Title, end)
			}
		}
	}
	return nil
}

// Image draws the diagram; Check must pass.
func (d Diagram) Image() image.Image {
	columns, rows := 0.0, 0.0
	for _, n := range d.Nodes {
		columns, rows = max(columns, n.Column), max(rows, n.Row)
	}
	width := vg.Length(columns*diagramColumn + diagramBox + 2*diagramMargin)
	height := vg.Length(rows*diagramRow + diagramRow*0.72 + 2*diagramMargin + diagramHead)
	sharp := int(dpi * min(1, MaxWidth/width)) // no wider than other figures
	c := draw.New(vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(sharp), vgimg.UseBackgroundColor(paper)))
	title := typeface(11, true)
	c.FillText(title, vg.Point{X: width / 2, Y: height - 14}, fitted(title.Width, d.Title, width-2*diagramMargin))
	boxes := map[string]vg.Rectangle{}
	for _, n := range d.Nodes {
		centre := vg.Point{
			X: vg.Length(diagramMargin + diagramBox/2 + n.Column*diagramColumn),
			Y: height - diagramHead - vg.Length(diagramMargin+0.36*diagramRow+n.Row*diagramRow),
		}
		half := vg.Point{X: diagramBox / 2, Y: vg.Length(9 + 5.5*float64(len(n.Lines)))}
		boxes[n.Name] = vg.Rectangle{Min: centre.Sub(half), Max: centre.Add(half)}
	}
	for _, a := range d.Arrows {
		a.draw(c, boxes[a.From], boxes[a.To])
	}
	for _, n := range d.Nodes {
		n.draw(c, boxes[n.Name])
	}
	return c.Canvas.(*vgimg.Canvas).Image()
}

// nodeLooks are the fill and the frame of each kind.
var nodeLooks = [...]look{{paper, grey, 0.8, nil}, {fade(sky, 0x38), blue, 1, nil},
	{paper, vermilion, 1.8, nil}, {paper, green, 1.8, nil}}

func (n Node) draw(c draw.Canvas, box vg.Rectangle) {
	own := nodeLooks[n.Kind]
	corners := rectangle(box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
	c.FillPolygon(own.fill, corners)
	c.StrokeLines(draw.LineStyle{Color: own.edge, Width: own.width}, append(corners, corners[0]))
	at := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: box.Max.Y - 9}
	write := func(style text.Style, s string) { c.FillText(style, at, fitted(style.Width, s, diagramBox-4)) }
	write(typeface(8.5, true), n.Title)
	for _, line := range n.Lines {
		at.Y -= 11
		write(typeface(7.5, false), line)
	}
}

// draw draws a straight arrow between the borders of two boxes.
func (a Arrow) draw(c draw.Canvas, from, to vg.Rectangle) {
	p, q := from.Min.Add(from.Max).Scale(0.5), to.Min.Add(to.Max).Scale(0.5)
	start, end := border(from, p, q), border(to, q, p)
	line := draw.LineStyle{Color: ink, Width: vg.Points(0.9)}
	if a.Dashed {
		line.Dashes = dashed
	}
	c.StrokeLine2(line, start.X, start.Y, end.X, end.Y)
	angle := math.Atan2(float64(end.Y-start.Y), float64(end.X-start.X))
	wing := func(turn float64) vg.Point {
		return vg.Point{X: end.X - vg.Length(6*math.Cos(angle+turn)), Y: end.Y - vg.Length(6*math.Sin(angle+turn))}
	}
	c.FillPolygon(ink, []vg.Point{end, wing(0.4), wing(-0.4)})
	if a.Label == "" {
		return
	}
	style := typeface(7.5, false)
	at := start.Add(end).Scale(0.5)
	label := fitted(style.Width, a.Label, diagramBox)
	half := vg.Point{X: style.Width(label)/2 + 1.5, Y: 5}
	lo, hi := at.Sub(half), at.Add(half)
	c.FillPolygon(paper, rectangle(lo.X, lo.Y, hi.X, hi.Y)) // keeps the line out of the letters
	c.FillText(style, at, label)
}

// border is where the line from the middle p of a box towards q leaves it.
func border(box vg.Rectangle, p, q vg.Point) vg.Point {
	d, half := q.Sub(p), box.Max.Sub(p)
	return p.Add(d.Scale(min(half.X/max(d.X, -d.X), half.Y/max(d.Y, -d.Y))))
}
