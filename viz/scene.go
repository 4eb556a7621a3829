// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"cermic/envs"
)

// The colours of scenes. Agents take these colours in order, so that agent 1 is the same in every picture.
var (
	ground   = rgb(0xf7f8fa)
	gold     = rgb(0xf5c542)
	goldEdge = rgb(0xb98900)
	wood     = rgb(0xb78a5e)
	woodEdge = rgb(0x7d5a38)
	slate    = rgb(0xc4cad3)
	stone    = rgb(0x88919e)
)

// agentColor is the colour of agent i (from 0).
func agentColor(i int) color.NRGBA { return agentColors[max(i, 0)%len(agentColors)] }

var agentColors = []color.NRGBA{vermilion, blue, green, rgb(0xcc79a7), orange, sky, wine, violet, black, grey}

// painter draws world units into a rectangle of the canvas, with one scale for both axes.
type painter struct {
	draw.Canvas
	scale    vg.Length // points a world unit
	originX  vg.Length
	originY  vg.Length
	thinnest vg.Length       // smallest radius and width that can be seen
	taken    *[]vg.Rectangle // where nothing more must be written
}

// newPainter fits the rectangle of s into c, centred.
func newPainter(c draw.Canvas, s envs.Scene) painter {
	size := c.Size()
	scale := min(size.X/vg.Length(s.MaxX-s.MinX), size.Y/vg.Length(s.MaxY-s.MinY))
	centre := c.Center()
	return painter{c, scale, centre.X - scale*vg.Length(s.MinX+s.MaxX)/2, centre.Y - scale*vg.Length(s.MinY+s.MaxY)/2,
		min(size.X, size.Y*2) / 90, &[]vg.Rectangle{}}
}

func (p painter) at(x, y float64) vg.Point {
	return vg.Point{X: p.originX + p.scale*vg.Length(x), Y: p.originY + p.scale*vg.Length(y)}
}

// look is how a shape is filled and outlined.
type look struct {
	fill  color.Color // nil: not filled
	edge  color.NRGBA
	width vg.Length // of the outline, or of a segment
	dash  []vg.Length
}

// lookOf gives every role one look.
func (p painter) lookOf(s envs.Shape) look {
	l := look{fill: slate, edge: stone, width: p.thinnest * 0.4}
	switch s.Role {
	case envs.RoleAgent:
		l.fill, l.edge = agentColor(s.Agent), paper
	case envs.RoleTarget:
		l.fill, l.edge = fade(gold, 0x50), goldEdge
	case envs.RoleObject:
		l.fill, l.edge = wood, woodEdge
	case envs.RoleJoint:
		l.fill, l.edge = stone, stone
	case envs.RoleSensor:
		l.fill, l.edge, l.width = nil, fade(agentColor(s.Agent), 0x70), p.thinnest*0.25
	case envs.RoleNoise:
		l.fill, l.edge, l.dash = fade(violet, 0x26), fade(violet, 0xb0), []vg.Length{p.thinnest * 1.5, p.thinnest}
	}
	if s.Hollow {
		if s.Role == envs.RoleAgent {
			l.edge = agentColor(s.Agent)
		}
		l.fill, l.width = nil, l.width*1.8
	}
	return l
}

// drawScene draws the layer of under, then the shapes of s in their order, on its mosaics if it has any. Above all of
// them it draws the numbers beside small agents and the names of targets. A number inside an agent belongs to its
// disc: an agent drawn above it hides both. The returned painter can draw more.
func drawScene(c draw.Canvas, s envs.Scene, under func(painter)) painter {
	if s.Mosaics == nil {
		c.FillPolygon(ground, rectangle(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
	}
	p := newPainter(c, s)
	under(p)
	targets := 0
	for _, shape := range s.Shapes {
		p.shape(shape)
		switch shape.Role {
		case envs.RoleTarget:
			targets++
		case envs.RoleAgent:
			p.take(p.at(shape.X, shape.Y), p.reach(shape), p.reach(shape)) // a number must not hide another agent
			if p.holdsNumber(shape) {
				p.number(shape)
			}
		}
	}
	for _, shape := range s.Shapes {
		switch {
		case shape.Role == envs.RoleAgent && !p.holdsNumber(shape):
			p.number(shape)
		case shape.Role == envs.RoleTarget && targets > 1 && targets < 6: // more would hide what they name
			p.name(shape)
		}
	}
	frame := rectangle(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	c.StrokeLines(draw.LineStyle{Color: slate, Width: vg.Points(1)}, append(frame, frame[0]))
	return p
}

func (p painter) shape(s envs.Shape) {
	l := p.lookOf(s)
	switch {
	case s.Radius > 0:
		p.circle(s, l)
	case s.Height > 0:
		p.outline(p.corners(s), l)
		if s.Label != "" { // such as the payoff of a joint action
			p.FillText(typeface(max(float64(p.reach(s))*0.8, 6), false), p.at(s.X, s.Y), s.Label)
		}
	case s.Width > 0:
		p.segment(s, l)
	}
}

// circle draws a disc; a target is a star inside it.
func (p painter) circle(s envs.Shape, l look) {
	centre, r := p.at(s.X, s.Y), p.scale*vg.Length(s.Radius)
	if s.Role != envs.RoleSensor && s.Role != envs.RoleNoise {
		r = max(r, p.thinnest)
	}
	p.outline(ring(centre, r), l)
	if s.Role == envs.RoleTarget && !s.Hollow {
		p.outline(star(centre, r*0.92), look{fill: gold, edge: goldEdge, width: l.width * 0.8})
	}
	if s.Role == envs.RoleObject && !s.Hollow { // a spoke shows that it turns
		tip := vg.Point{X: centre.X + r*vg.Length(math.Cos(s.Angle)), Y: centre.Y + r*vg.Length(math.Sin(s.Angle))}
		p.StrokeLine2(draw.LineStyle{Color: l.edge, Width: l.width}, centre.X, centre.Y, tip.X, tip.Y)
	}
}

// segment draws a line with round ends and a thickness that can be seen; sensors stay thin.
func (p painter) segment(s envs.Shape, l look) {
	cos, sin := math.Cos(s.Angle)*s.Width/2, math.Sin(s.Angle)*s.Width/2
	a, b := p.at(s.X-cos, s.Y-sin), p.at(s.X+cos, s.Y+sin)
	width, color := l.width, color.Color(l.edge)
	if s.Role != envs.RoleSensor {
		width = p.thinnest * 1.3
	}
	if s.Role == envs.RoleObject || s.Role == envs.RoleAgent {
		color, width = l.fill, p.thinnest*1.7
	}
	p.StrokeLine2(draw.LineStyle{Color: color, Width: width}, a.X, a.Y, b.X, b.Y)
	if s.Role != envs.RoleSensor {
		p.FillPolygon(color, ring(a, width/2))
		p.FillPolygon(color, ring(b, width/2))
	}
}

// outline fills and strokes a closed polygon.
func (p painter) outline(points []vg.Point, l look) {
	if l.fill != nil {
		p.FillPolygon(l.fill, points)
	}
	closed := append(points[:len(points):len(points)], points[0], points[1])
	p.StrokeLines(draw.LineStyle{Color: l.edge, Width: l.width, Dashes: l.dash}, closed)
}

// corners of a turned rectangle.
func (p painter) corners(s envs.Shape) []vg.Point {
	cos, sin := math.Cos(s.Angle), math.Sin(s.Angle)
	var out []vg.Point
	for _, k := range [4][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		dx, dy := k[0]*s.Width/2, k[1]*s.Height/2
		out = append(out, p.at(s.X+dx*cos-dy*sin, s.Y+dx*sin+dy*cos))
	}
	return out
}

// number writes the number of an agent, from 1, inside it, or beside it where it is too small.
func (p painter) number(s envs.Shape) {
	r, at, text := p.reach(s), p.at(s.X, s.Y), strconv.Itoa(s.Agent+1)
	style := typeface(min(float64(r)*1.3, 14), true)
	if !p.holdsNumber(s) {
		style = typeface(max(float64(p.thinnest)*2.6, 6), true)
		at = p.beside(at, r, style.Font.Size, style.Width(text))
	}
	if style.Color = agentColor(s.Agent); p.holdsNumber(s) && !s.Hollow {
		style.Color = paper
	}
	p.FillText(style, at, text)
}

// holdsNumber reports whether an agent is large enough for its number.
func (p painter) holdsNumber(s envs.Shape) bool { return float64(p.reach(s))*1.3 >= 5 }

// name writes the label of a shape above it.
func (p painter) name(s envs.Shape) {
	style := typeface(max(float64(p.thinnest)*2.6, 6), false)
	at := p.at(s.X, s.Y)
	at.Y += p.reach(s) + style.Font.Size*0.7
	label := fitted(style.Width, s.Label, p.Size().X/2)
	across := style.Width(label) / 2
	at.X = max(p.Min.X+across, min(at.X, p.Max.X-across))
	p.take(at, across, style.Font.Size/2)
	p.FillText(style, at, label)
}

// reach is how far a shape is drawn above its centre.
func (p painter) reach(s envs.Shape) vg.Length {
	return max(p.scale*vg.Length(max(s.Radius, s.Height/2)), p.thinnest)
}

// ring is a circle as a polygon fine enough for any size drawn here.
func ring(centre vg.Point, r vg.Length) []vg.Point { return polygon(centre, 48, 0, r, r) }

// star has five points, one upwards.
func star(centre vg.Point, r vg.Length) []vg.Point { return polygon(centre, 10, math.Pi/2, r, 0.45*r) }

// polygon has so many corners from an angle on, outer and inner ones in turn, at these distances from its centre.
func polygon(centre vg.Point, corners int, from float64, outer, inner vg.Length) []vg.Point {
	out := make([]vg.Point, corners)
	for i := range out {
		r := [2]vg.Length{outer, inner}[i%2]
		sin, cos := math.Sincos(from + 2*math.Pi*float64(i)/float64(corners))
		out[i] = vg.Point{X: centre.X + r*vg.Length(cos), Y: centre.Y + r*vg.Length(sin)}
	}
	return out
}

// leap is the longest step of a trail, as a share of the picture's longer side: a longer one is a teleport.
const leap = 0.15

// trails draws the ways of agents and objects to the last of scenes, pale enough to lie under everything.
func (p painter) trails(scenes []envs.Scene) {
	type way struct {
		role  envs.Role
		index int // of the agent, or among the objects
		lines [][]vg.Point
	}
	var ways []way
	longest := leap * float64(max(p.Size().X, p.Size().Y))
	for _, s := range scenes {
		objects := 0
		for _, shape := range s.Shapes {
			index := shape.Agent
			switch shape.Role {
			case envs.RoleAgent:
			case envs.RoleObject:
				index = objects
				objects++
			default:
				continue
			}
			k := slices.IndexFunc(ways, func(w way) bool { return w.role == shape.Role && w.index == index })
			if k < 0 {
				k, ways = len(ways), append(ways, way{role: shape.Role, index: index})
			}
			ways[k].lines = extended(ways[k].lines, p.at(shape.X, shape.Y), longest)
		}
	}
	for _, w := range ways {
		color := fade(woodEdge, 0x70)
		if w.role == envs.RoleAgent {
			color = fade(agentColor(w.index), 0x90)
		}
		p.StrokeLines(draw.LineStyle{Color: color, Width: p.thinnest * 0.45}, w.lines...)
	}
}

// extended is a way with one more point, which begins a new line after a step longer than longest.
func extended(lines [][]vg.Point, at vg.Point, longest float64) [][]vg.Point {
	if n := len(lines); n > 0 {
		before := lines[n-1][len(lines[n-1])-1]
		if math.Hypot(float64(at.X-before.X), float64(at.Y-before.Y)) <= longest {
			lines[n-1] = append(lines[n-1], at)
			return lines
		}
	}
	return append(lines, []vg.Point{at})
}

// take notes the box around a centre as a place where nothing more must be written.
func (p painter) take(centre vg.Point, halfWidth, halfHeight vg.Length) {
	*p.taken = append(*p.taken, around(centre, halfWidth, halfHeight))
}

func around(centre vg.Point, halfWidth, halfHeight vg.Length) vg.Rectangle {
	half := vg.Point{X: halfWidth, Y: halfHeight}
	return vg.Rectangle{Min: centre.Sub(half), Max: centre.Add(half)}
}

// covered is the taken area of r; overlaps count several times.
func (p painter) covered(r vg.Rectangle) vg.Length {
	sum := vg.Length(0)
	for _, o := range *p.taken {
		width, height := min(r.Max.X, o.Max.X)-max(r.Min.X, o.Min.X), min(r.Max.Y, o.Max.Y)-max(r.Min.Y, o.Min.Y)
		if width > 0 && height > 0 {
			sum += width * height
		}
	}
	return sum
}

// beside finds a place for a short text next to a disc, below it if that is free, and takes it. Where everything around
// is taken it is the place that hides least; the text never leaves the canvas.
func (p painter) beside(centre vg.Point, radius, size, width vg.Length) vg.Point {
	best, least := centre, vg.Length(-1)
	for _, d := range [8][2]vg.Length{{0, -1}, {1, 0}, {-1, 0}, {0, 1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}} {
		at := vg.Point{X: centre.X + d[0]*(radius+width*0.8), Y: centre.Y + d[1]*(radius+size*0.6)}
		box := around(at, width/2, size*0.4)
		outside := box.Min.X < p.Min.X || box.Max.X > p.Max.X || box.Min.Y < p.Min.Y || box.Max.Y > p.Max.Y
		if hidden := p.covered(box); !outside && (least < 0 || hidden < least) {
			best, least = at, hidden
		}
	}
	p.take(best, width/2, size*0.4)
	return best
}
