// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs"
)

// Encounters draws r^i over an episode, one panel an agent, on one scale. The ground is coloured while the simulator
// has another agent in sight.
//
// paper:fig:app_rew  r^i through one episode, with encounters
func Encounters(in *results.Trace, columns int) (Panels, error) {
	if in.Steps < 1 || len(in.Bonus) != in.Steps*in.Agents {
		return Panels{}, fmt.Errorf("r^i of %d agent steps, want %d steps of %d agents", len(in.Bonus), in.Steps, in.Agents)
	}
	low, high := slices.Min(in.Bonus), slices.Max(in.Bonus)
	margin := 0.05 * max(high-low, 1e-6)
	f := Figure{Y: "r^i (√nats)", Unlabelled: true, Low: low - margin, High: high + margin}
	title := fmt.Sprintf("%s after %s frames; coloured: another agent in sight", in.Task, Short(float64(in.Frames)))
	panels, err := perAgent(in, columns, title, f, func(i int) []Series {
		return []Series{stepLine(agentNames(in.Agents)[i], in, i, func(row int) float64 { return in.Bonus[row] })}
	})
	panels.Legend = nil // the titles name the agents
	return panels, err
}

// perAgent are panels over the steps of an episode, one an agent, coloured where the agent sees another one.
func perAgent(in *results.Trace, columns int, title string, f Figure, lines func(agent int) []Series) (Panels, error) {
	var charts []Chart
	for i, name := range agentNames(in.Agents) {
		f.Title, f.X, f.Marks = name, "step", sights(in, i)
		charts = append(charts, Chart{f, lines(i)})
	}
	panels, err := CurvePanels(columns, charts...)
	panels.Title = title
	return panels, err
}

// stepLine is a line over the steps of an episode: a value computed from each row of an agent.
func stepLine(label string, in *results.Trace, agent int, value func(row int) float64) Series {
	x, y := make([]float64, in.Steps), make([]float64, in.Steps)
	for t := range x {
		x[t], y[t] = float64(t), value(in.Row(t, agent))
	}
	return Line(label, x, y)
}

// sights are the stretches of an episode in which an agent perceives another one.
func sights(in *results.Trace, agent int) []mark {
	var out []mark
	for t := range in.Steps {
		if !in.Sees(t, agent) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].To == float64(t) {
			out[n-1].To++
			continue
		}
		out = append(out, mark{From: float64(t), To: float64(t + 1), Agent: agent})
	}
	return out
}

// Codes draws s_t and x_t of an episode in two dimensions, one colour per agent. Above are their principal
// components, below a t-SNE of at most 600 agent steps, in which only nearness means something. Groups of agents that
// are trained separately have their own encoders, so distances between their codes mean nothing.
func Codes(in *results.Trace, seed uint64) (Panels, error) {
	panels := NewPanels(2)
	panels.Width, panels.Height = 4.1*vg.Inch, 2.9*vg.Inch
	panels.Rows, panels.Legend = make([][]*plot.Plot, 2), labelStyles(agentNames(in.Agents)...)
	for _, code := range []struct {
		name string
		rows [][]float64
	}{{"s_t", in.Embed}, {"x_t", in.Latent}} {
		if want := in.Steps * in.Agents; len(code.rows) != want {
			return panels, fmt.Errorf("%s of %d agent steps, want %d", code.name, len(code.rows), want)
		}
		both, err := projections("first", code.rows, thinned(in, code.rows, 600), seed)
		if err != nil {
			return panels, fmt.Errorf("%s: %w", code.name, err)
		}
		for k, q := range both {
			p, err := q.panel(code.name+", "+q.name, byAgent(in, q.points)...)
			if err != nil {
				return panels, err
			}
			panels.Rows[k] = append(panels.Rows[k], p)
		}
	}
	return panels, nil
}

// projection is a set of points in the plane.
type projection struct {
	name   string
	points [][2]float64
	axes   Figure // their names
}

// panel draws clouds of the points.
func (q projection) panel(title string, clouds ...cloud) (*plot.Plot, error) {
	q.axes.Title = title
	return scatter(q.axes, clouds...)
}

// projections are rows on their principal components, the first of which has a name, and some of the rows by t-SNE.
func projections(first string, rows, some [][]float64, seed uint64) (both [2]projection, err error) {
	plane, share, err := stats.PCA(rows)
	if err != nil {
		return both, err
	}
	const perplexity = 20
	layout, err := stats.TSNE(some, min(perplexity, float64(len(some))/3), seed)
	axes := Figure{X: fmt.Sprintf("%s (%.0f %%)", first, 100*share[0]), Y: fmt.Sprintf("second (%.0f %%)", 100*share[1])}
	return [2]projection{{"principal components", plane, axes}, {"t-SNE", layout, Figure{}}}, err
}

// stride is the number of steps between two selected ones, for at most so many agent steps: the time of t-SNE is
// quadratic.
func stride(in *results.Trace, most int) int { return (in.Steps*in.Agents + most - 1) / most }

// thinned are at most so many of the rows [T·N], at evenly spaced steps.
func thinned(in *results.Trace, rows [][]float64, most int) (out [][]float64) {
	for t := 0; t < in.Steps; t += stride(in, most) {
		out = append(out, rows[t*in.Agents:(t+1)*in.Agents]...)
	}
	return out
}

// agentNames are what agents are called in legends.
func agentNames(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("agent %d", i+1))
	}
	return out
}

// byAgent sorts points into one cloud per agent. They are in time order, with the agents of a step beside each other.
func byAgent(in *results.Trace, points [][2]float64) []cloud {
	out := make([]cloud, in.Agents)
	for i, name := range agentNames(in.Agents) {
		out[i].Label = name
		for k := i; k < len(points); k += in.Agents {
			out[i].Points = append(out[i].Points, points[k])
		}
	}
	return out
}

// Memory draws the graph memory of one agent (from 0) over the world, at several steps of the episode. Beside every
// other agent stands the detector's probability that it is in sight. Nodes of the graph have a ring and a line as
// thick as the attention of their message. Rings are dashed where no peer was detected and the graph stayed as
// before.
func Memory(in *results.Trace, observer, frames int) (image.Image, error) {
	scenes, err := inOneView(in.Scenes)
	switch {
	case err != nil:
		return nil, err
	case len(in.Graphs) != in.Steps*in.Agents || in.Steps < 1:
		return nil, fmt.Errorf("the memory of %s has no graphs to draw: choose explore.memory=graph", in.Method)
	case observer < 0 || observer >= in.Agents || frames < 1:
		return nil, fmt.Errorf("%d pictures of agent %d, want at least 1 of an agent from 0 to %d",
			frames, observer, in.Agents-1)
	}
	frames = min(frames, in.Steps)
	s := sheet{columns: frames, foot: 18, drop: 9, align: text.YCenter}
	s.width, s.height = size(scenes[0], 7.7*vg.Inch/vg.Length(max(frames, 2))-8)
	step := func(k int) int { return k * (in.Steps - 1) / max(frames-1, 1) }
	caption := func(k int) string { return fmt.Sprintf("agent %d at t = %d", observer+1, step(k)) }
	return s.draw(frames, caption, func(k int) image.Image {
		g := in.Graphs[in.Row(step(k), observer)]
		other := func(s envs.Shape) bool { return s.Role != envs.RoleAgent }
		agents := slices.DeleteFunc(slices.Clone(scenes[step(k)].Shapes), other)
		one, p := layered(scenes[step(k)], s.width, s.height, dpi, func(p painter) { p.messages(g, agents, observer) })
		p.rings(g, agents, observer)
		return one
	}), nil
}

// messages draws lines from the observer to the nodes of its graph, beneath everything else.
func (p painter) messages(g results.Graph, agents []envs.Shape, observer int) {
	self := slices.IndexFunc(agents, func(a envs.Shape) bool { return a.Agent == observer })
	if self < 0 {
		return
	}
	from := p.at(agents[self].X, agents[self].Y)
	for _, other := range agents {
		if to := p.at(other.X, other.Y); g.Present[other.Agent] && other.Agent != observer {
			width := p.thinnest * vg.Length(0.3+4*g.Attention[other.Agent])
			p.StrokeLine2(draw.LineStyle{Color: fade(agentColor(observer), 0xa0), Width: width}, from.X, from.Y, to.X, to.Y)
		}
	}
}

// rings marks the nodes, and writes the probabilities beside the others.
func (p painter) rings(g results.Graph, agents []envs.Shape, observer int) {
	for _, a := range agents {
		at, reach := p.at(a.X, a.Y), p.reach(a)
		if g.Present[a.Agent] {
			style := draw.LineStyle{Color: agentColor(observer), Width: p.thinnest * 0.5}
			if !g.Advanced {
				style.Dashes = []vg.Length{p.thinnest * 1.5, p.thinnest}
			}
			circle := ring(at, reach+p.thinnest*0.8)
			p.StrokeLines(style, append(circle, circle[0], circle[1]))
		}
		if a.Agent != observer {
			style := typeface(max(float64(p.thinnest)*2.6, 7), false)
			text := fmt.Sprintf("%.0f %%", 100*g.Probability[a.Agent])
			p.FillText(style, p.beside(at, reach+p.thinnest*1.5, style.Font.Size, style.Width(text)), text)
		}
	}
}

// Paths draws the s_t of episodes, as seen through one encoder, as one path per agent. Beside them it draws x_t among
// the s_t of the first episode. Above are the two directions in which all of these points vary most; below is one
// t-SNE of them all. A path grows darker with time. A dark dot is a step with another agent in sight, and a ring is
// the start of the path.
//
// paper:fig2  left: distributions of s_t with CERMIC and a baseline; right: x_t around s_t and at the ends of its path
//
// Reading: x_t is in another space than s_t. It is drawn at its decoded prediction: ŝ_{t+1}, p_ψ's mean for the mean of
// x_t.
func Paths(seed uint64, episodes ...*results.Trace) (Panels, error) {
	panels := NewPanels(len(episodes) + 1)
	panels.Width, panels.Height = 3.3*vg.Inch, 2.9*vg.Inch
	rows, err := mapped(episodes)
	if err != nil {
		return panels, err
	}
	both, err := projections("first component", rows, rows, seed)
	if err != nil {
		return panels, err
	}
	above, err := pathRow(episodes, both[0], "")
	if err != nil {
		return panels, err
	}
	below, err := pathRow(episodes, both[1], ", "+both[1].name)
	panels.Rows = [][]*plot.Plot{above, below}
	panels.Legend = labelStyles(agentNames(episodes[0].Agents)...)
	return panels, err
}

// mostMapped is how many agent steps of an episode, and as many predictions, Paths draws.
const mostMapped = 300

// mapped are the points of all panels: s_t of every episode, then ŝ_{t+1} of the first.
func mapped(episodes []*results.Trace) (rows [][]float64, err error) {
	if len(episodes) == 0 {
		return nil, errors.New("no episode to draw")
	}
	for _, in := range episodes {
		n := in.Steps * in.Agents
		switch {
		case len(in.Predicted) == 0:
			return nil, fmt.Errorf("%s predicts nothing, as it has no L_explore (explore.alpha=0): choose a run that has",
				in.Method)
		case in.Agents != episodes[0].Agents || n < 1 || len(in.Embed) != n || len(in.Predicted) != n:
			return nil, fmt.Errorf("%s has %d embeddings and %d predictions, want %d of each, and as many agents as %s",
				in.Method, len(in.Embed), len(in.Predicted), n, episodes[0].Method)
		}
		rows = append(rows, thinned(in, in.Embed, mostMapped)...)
	}
	return append(rows, thinned(episodes[0], episodes[0].Predicted, mostMapped)...), nil
}

// pathRow draws a panel an episode and one of x_t, from points in the order of mapped, on common axes.
func pathRow(episodes []*results.Trace, q projection, suffix string) (row []*plot.Plot, err error) {
	points := q.points
	draw := func(title string, clouds ...cloud) error {
		p, err := q.panel(title+suffix, clouds...)
		row = append(row, p)
		return err
	}
	var first []cloud
	for _, in := range episodes {
		n := len(thinned(in, in.Embed, mostMapped))
		paths := pathsOf(in, points[:n])
		points = points[n:]
		if first == nil {
			first = slices.Clone(paths)
		}
		if err := draw("s_t of "+shortLabel(in.Method), paths...); err != nil {
			return nil, err
		}
	}
	for i := range first {
		first[i].Faint = true
	}
	if err := draw("x_t among the left s_t", append(first, byAgent(episodes[0], points)...)...); err != nil {
		return nil, err
	}
	SameAxes(row...)
	return row, nil
}

// shortLabel is a label as figures print it, of a length that a title has room for.
func shortLabel(label string) string { return cut(labelStyles(label)[0].Name) }

// pathsOf are the paths of an episode's agents, with a dark dot where another agent is in sight.
func pathsOf(in *results.Trace, points [][2]float64) []cloud {
	clouds := byAgent(in, points)
	for i := range clouds {
		clouds[i].Trail = true
		for k := range clouds[i].Points {
			clouds[i].Dark = append(clouds[i].Dark, in.Sees(k*stride(in, mostMapped), i))
		}
	}
	return clouds
}

// Ends draws how far s_t, and the s_t that x_t predicts, are from the last s_t of the episode, in one panel per
// agent. Where the line of x_t is the lower one, x_t lies nearer to the end than s_t. The background is coloured
// while another agent is in sight.
func Ends(in *results.Trace, columns int) (Panels, error) {
	if _, err := mapped([]*results.Trace{in}); err != nil {
		return Panels{}, err
	}
	title := fmt.Sprintf("%s, %s; coloured: another agent in sight", in.Task, shortLabel(in.Method))
	return perAgent(in, columns, title, Figure{Y: "distance to the end"}, func(i int) []Series {
		end := in.Embed[in.Row(in.Steps-1, i)]
		distance := func(of [][]float64) func(row int) float64 {
			return func(row int) float64 { return floats.Distance(of[row], end, 2) }
		}
		return []Series{stepLine("s_t", in, i, distance(in.Embed)), stepLine("x_t", in, i, distance(in.Predicted))}
	})
}

// cloud is a labelled set of points in the plane, for example latents projected on two components.
type cloud struct {
	Label  string
	Points [][2]float64
	Trail  bool   // the points are one path in time: joined by a line, the first hollow, paler before than after
	Faint  bool   // of a trail only the line and its beginning
	Dark   []bool // which points have a dark core; nil: none
}

// scatter draws clouds of points. Clouds of one label have one colour.
func scatter(f Figure, clouds ...cloud) (*plot.Plot, error) {
	p := newPlot(f)
	labels := make([]string, len(clouds))
	for i, c := range clouds {
		labels[i] = c.Label
	}
	for i, style := range labelStyles(labels...) {
		xy := make(plotter.XYs, len(clouds[i].Points))
		for j, q := range clouds[i].Points {
			if math.IsNaN(q[0]+q[1]) || undrawable(q[0]) || undrawable(q[1]) {
				return nil, fmt.Errorf("cloud %q: point %d is (%g, %g)", clouds[i].Label, j, q[0], q[1])
			}
			xy[j] = plotter.XY{X: q[0], Y: q[1]}
		}
		if len(xy) > 0 {
			p.Add(&points{xy, clouds[i], style})
		}
	}
	p.X.Min, p.X.Max = limits(p.X.Min, p.X.Max)
	p.Y.Min, p.Y.Max = limits(p.Y.Min, p.Y.Max)
	return p, nil
}

// points implements plot.Plotter.
type points struct {
	plotter.XYs
	cloud cloud
	style Style
}

func (s *points) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = plotter.XYRange(s.XYs)
	dx, dy := (xmax-xmin)*0.03, (ymax-ymin)*0.03 // whole dots, also at the edges
	return xmin - dx, xmax + dx, ymin - dy, ymax + dy
}

func (s *points) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	at := make([]vg.Point, len(s.XYs))
	for i, q := range s.XYs {
		at[i] = vg.Point{X: tx(q.X), Y: ty(q.Y)}
	}
	if s.cloud.Trail {
		c.StrokeLines(draw.LineStyle{Color: fade(s.style.Color, 0x60), Width: vg.Points(0.8)}, at)
	}
	for i := 0; i < len(at) && !s.cloud.Faint; i++ {
		alpha := uint8(0x90)
		if s.cloud.Trail {
			alpha = 0x40 + uint8(0xbf*i/max(len(at)-1, 1))
		}
		c.FillPolygon(fade(s.style.Color, alpha), ring(at[i], 2.2))
		if s.cloud.Dark != nil && s.cloud.Dark[i] {
			c.FillPolygon(ink, ring(at[i], 1.1))
		}
	}
	if s.cloud.Trail {
		start := ring(at[0], 3.2)
		c.FillPolygon(paper, start)
		c.StrokeLines(draw.LineStyle{Color: s.style.Color, Width: vg.Points(1.2)}, append(start, start[0]))
	}
}
