// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs"
)

// Encounters draws r^i over an episode, one panel an agent, on one scale. The ground is coloured while the simulator has another
// agent in sight.
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
	return perAgent(in, columns, title, f, func(i int) []Series {
		return []Series{stepLine(agentNames(in.Agents)[i], in, i, func(row int) float64 { return in.Bonus[row] })}
	})
}

// perAgent are panels with lines over the steps of an episode, one an agent. The ground is coloured where the agent
// sees another one.
func perAgent(in *results.Trace, columns int, title string, f Figure, lines func(agent int) []Series) (Panels, error) {
	panels := NewPanels(columns)
	panels.Title = title
	var plots []*plot.Plot
	for i, name := range agentNames(in.Agents) {
		f.Title, f.X, f.Marks = name, "step", sights(in, i)
		p, err := Curves(f, lines(i)...)
		if err != nil {
			return panels, err
		}
		plots = append(plots, p)
	}
	panels.Rows = slices.Collect(slices.Chunk(plots, columns))
	return panels, nil
}

// stepLine is a line over the steps of an episode, of a value of each row of an agent.
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

// Codes draws s_t and x_t of an episode in two dimensions, one colour an agent: their principal components, and below
// them a t-SNE of at most 600 agent steps, in which only nearness means something. Groups of agents that are trained
// apart have encoders of their own, so that their codes are near or far for no reason.
func Codes(in *results.Trace, seed uint64) (Panels, error) {
	const most = 600
	panels := NewPanels(2)
	panels.Width, panels.Height = 4.1*vg.Inch, 2.9*vg.Inch
	panels.Rows, panels.Legend = make([][]*plot.Plot, 2), Styles(agentNames(in.Agents)...)
	for _, code := range []struct {
		name string
		rows [][]float64
	}{{"s_t", in.Embed}, {"x_t", in.Latent}} {
		plane, share, err := stats.PCA(code.rows)
		if err != nil {
			return panels, fmt.Errorf("%s: %w", code.name, err)
		}
		layout, err := tsne(every(in, code.rows, (in.Steps*in.Agents+most-1)/most), seed)
		if err != nil {
			return panels, fmt.Errorf("%s: %w", code.name, err)
		}
		for k, points := range [][][2]float64{plane, layout} {
			f := Figure{Title: code.name + ", t-SNE"}
			if k == 0 {
				f = Figure{Title: code.name + ", principal components", X: fmt.Sprintf("first (%.0f %%)", 100*share[0]), Y: fmt.Sprintf("second (%.0f %%)", 100*share[1])}
			}
			p, err := scatter(f, byAgent(in, points)...)
			if err != nil {
				return panels, err
			}
			panels.Rows[k] = append(panels.Rows[k], p)
		}
	}
	return panels, nil
}

// every are the rows [T·N] of every so many steps.
func every(in *results.Trace, rows [][]float64, stride int) (out [][]float64) {
	for t := 0; t < in.Steps; t += stride {
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

// byAgent sorts points, which are in time order with the agents of a step beside each other, into one cloud an agent.
func byAgent(in *results.Trace, points [][2]float64) []cloud {
	out := make([]cloud, in.Agents)
	for k, p := range points {
		i := k % in.Agents
		out[i].Label = fmt.Sprintf("agent %d", i+1)
		out[i].Points = append(out[i].Points, p)
	}
	return out
}

// Memory draws the graph memory of one agent (from 0) over the world, at several steps of the episode. Beside every other agent
// stands the detector's probability that it is in sight. Nodes of the graph have a ring and a line as thick as the attention of
// their message. Rings are dashed where no peer was detected and the graph stayed as before.
func Memory(in *results.Trace, observer, frames int) (image.Image, error) {
	view, scenes, err := viewOf(in.Scenes)
	switch {
	case err != nil:
		return nil, err
	case len(in.Graphs) != in.Steps*in.Agents || in.Steps < 1:
		return nil, fmt.Errorf("the memory of %s has no graphs to draw: choose explore.memory=graph", in.Method)
	case observer < 0 || observer >= in.Agents || frames < 1:
		return nil, fmt.Errorf("%d pictures of agent %d, want at least 1 of an agent from 0 to %d", frames, observer, in.Agents-1)
	}
	frames = min(frames, in.Steps)
	s := sheet{columns: frames, foot: 18, drop: 9, align: text.YCenter}
	s.width, s.height = view.size(7.7*vg.Inch/vg.Length(max(frames, 2)) - 8)
	step := func(k int) int { return k * (in.Steps - 1) / max(frames-1, 1) }
	return s.draw(frames, func(k int) string { return fmt.Sprintf("agent %d at t = %d", observer+1, step(k)) }, func(k int) image.Image {
		g := in.Graphs[in.Row(step(k), observer)]
		agents := slices.Clone(scenes[step(k)].Shapes)
		agents = slices.DeleteFunc(agents, func(s envs.Shape) bool { return s.Role != envs.RoleAgent })
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
			p.StrokeLine2(vgdraw.LineStyle{Color: fade(agentColor(observer), 0xa0), Width: width}, from.X, from.Y, to.X, to.Y)
		}
	}
}

// rings marks the nodes, and writes the probabilities beside the others.
func (p painter) rings(g results.Graph, agents []envs.Shape, observer int) {
	for _, a := range agents {
		at, reach := p.at(a.X, a.Y), p.reach(a)
		if g.Present[a.Agent] {
			style := vgdraw.LineStyle{Color: agentColor(observer), Width: p.thinnest * 0.5}
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
