// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image"
	"math"

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
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range in.Bonus {
		low, high = min(low, v), max(high, v)
	}
	margin := 0.05 * max(high-low, 1e-6)
	var plots []*plot.Plot
	for i := range in.Agents {
		x, y := make([]float64, in.Steps), make([]float64, in.Steps)
		for t := range x {
			x[t], y[t] = float64(t), in.Bonus[in.Row(t, i)]
		}
		p, err := Curves(Figure{Title: fmt.Sprintf("agent %d", i+1), X: "step", Y: "r^i (√nats)", Unlabelled: true,
			Low: low - margin, High: high + margin, Marks: sights(in, i)}, Line(fmt.Sprintf("agent %d", i+1), x, y))
		if err != nil {
			return Panels{}, err
		}
		plots = append(plots, p)
	}
	panels := NewPanels(columns, plots...)
	panels.Title = fmt.Sprintf("%s after %s frames; coloured: another agent in sight", in.Task, Short(float64(in.Frames)))
	return panels, nil
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
	const most, perplexity = 600, 20
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
		few := every(in, code.rows, (in.Steps*in.Agents+most-1)/most)
		layout, err := stats.TSNE(few, min(perplexity, float64(len(few))/3), seed)
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
		nodes := nodesOf(in, scenes[step(k)], step(k), observer)
		one, p := layered(scenes[step(k)], s.width, s.height, dpi, nodes.lines)
		nodes.rings(p)
		return one
	}), nil
}

// nodes are the agents of a scene with the graph memory of one of them.
type nodes struct {
	results.Graph
	observer int
	agents   []envs.Shape // that are in the scene
}

func nodesOf(in *results.Trace, scene envs.Scene, step, observer int) nodes {
	n := nodes{Graph: in.Graphs[in.Row(step, observer)], observer: observer}
	for _, shape := range scene.Shapes {
		if shape.Role == envs.RoleAgent {
			n.agents = append(n.agents, shape)
		}
	}
	return n
}

// lines leads from the observer to the nodes of its graph, beneath everything else.
func (n nodes) lines(p painter) {
	for _, self := range n.agents {
		if self.Agent != n.observer {
			continue
		}
		from := p.at(self.X, self.Y)
		for _, other := range n.agents {
			if to := p.at(other.X, other.Y); n.Present[other.Agent] && other.Agent != n.observer {
				width := p.thinnest * vg.Length(0.3+4*n.Attention[other.Agent])
				p.StrokeLine2(vgdraw.LineStyle{Color: fade(agentColor(n.observer), 0xa0), Width: width}, from.X, from.Y, to.X, to.Y)
			}
		}
	}
}

// rings marks the nodes, and writes the probabilities beside the others.
func (n nodes) rings(p painter) {
	for _, a := range n.agents {
		at, reach := p.at(a.X, a.Y), p.reach(a)
		if n.Present[a.Agent] {
			style := vgdraw.LineStyle{Color: agentColor(n.observer), Width: p.thinnest * 0.5}
			if !n.Advanced {
				style.Dashes = []vg.Length{p.thinnest * 1.5, p.thinnest}
			}
			circle := ring(at, reach+p.thinnest*0.8)
			p.StrokeLines(style, append(circle, circle[0], circle[1]))
		}
		if a.Agent != n.observer {
			style := typeface(max(float64(p.thinnest)*2.6, 7), false)
			text := fmt.Sprintf("%.0f %%", 100*n.Probability[a.Agent])
			p.FillText(style, p.beside(at, reach+p.thinnest*1.5, style.Font.Size, style.Width(text)), text)
		}
	}
}
