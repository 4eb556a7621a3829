// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
)

// Paths draws the s_t of episodes, seen through one encoder, as one path an agent, and beside them x_t among the s_t of
// the first episode. Above are the two directions in which all of these points vary most, below one t-SNE of them all.
// A path is paler before than after; a dark dot is a step with another agent in sight, and a ring where the path
// starts.
//
// paper:fig2  left: distributions of s_t with CERMIC and a baseline; right: x_t around s_t and at the ends of its path
//
// Reading: x_t is no s_t. It is put among them where its decoder does: at ŝ_{t+1}, p_ψ's mean for the mean of x_t.
func Paths(seed uint64, episodes ...*results.Trace) (Panels, error) {
	panels := NewPanels(len(episodes) + 1)
	panels.Width, panels.Height = 3.3*vg.Inch, 2.9*vg.Inch
	rows, err := mapped(episodes)
	if err != nil {
		return panels, err
	}
	plane, share, err := stats.PCA(rows)
	if err != nil {
		return panels, err
	}
	layout, err := tsne(rows, seed)
	if err != nil {
		return panels, err
	}
	above, err := pathRow(episodes, plane, "", Figure{X: fmt.Sprintf("first component (%.0f %%)", 100*share[0]), Y: fmt.Sprintf("second (%.0f %%)", 100*share[1])})
	if err != nil {
		return panels, err
	}
	below, err := pathRow(episodes, layout, ", t-SNE", Figure{})
	panels.Rows = [][]*plot.Plot{above, below}
	panels.Legend = Styles(agentNames(episodes[0].Agents)...)
	return panels, err
}

// tsne lays rows out in the plane.
func tsne(rows [][]float64, seed uint64) ([][2]float64, error) {
	const perplexity = 20
	return stats.TSNE(rows, min(perplexity, float64(len(rows))/3), seed)
}

// mapped are the points of all panels: s_t of every episode, then ŝ_{t+1} of the first, in at most 300 agent steps of
// each.
func mapped(episodes []*results.Trace) (rows [][]float64, err error) {
	if len(episodes) == 0 {
		return nil, errors.New("no episode to draw")
	}
	for _, in := range episodes {
		n := in.Steps * in.Agents
		switch {
		case len(in.Predicted) == 0:
			return nil, fmt.Errorf("%s predicts nothing, as it has no L_explore (explore.alpha=0): choose a run that has", in.Method)
		case in.Agents != episodes[0].Agents || n < 1 || len(in.Embed) != n || len(in.Predicted) != n:
			return nil, fmt.Errorf("%s has %d embeddings and %d predictions, want %d of each, and as many agents as %s",
				in.Method, len(in.Embed), len(in.Predicted), n, episodes[0].Method)
		}
		rows = append(rows, thinned(in, in.Embed)...)
	}
	return append(rows, thinned(episodes[0], episodes[0].Predicted)...), nil
}

// stride is how many steps lie between two that are drawn: t-SNE takes time that grows with the square of their number.
func stride(in *results.Trace) int { return (in.Steps*in.Agents + 299) / 300 }

// thinned are the rows [T·N] of the steps that are drawn.
func thinned(in *results.Trace, rows [][]float64) [][]float64 { return every(in, rows, stride(in)) }

// pathRow draws a panel an episode and one of x_t, from points in the order of mapped, on common axes.
func pathRow(episodes []*results.Trace, points [][2]float64, suffix string, f Figure) ([]*plot.Plot, error) {
	var row []*plot.Plot
	at, first := 0, [][2]float64(nil)
	for _, in := range episodes {
		own := points[at : at+len(thinned(in, in.Embed))]
		if at += len(own); first == nil {
			first = own
		}
		p, err := pathPanel(in, own, nil, "s_t of "+shortLabel(in.Method)+suffix, f)
		if err != nil {
			return nil, err
		}
		row = append(row, p)
	}
	p, err := pathPanel(episodes[0], first, points[at:], "x_t among the left s_t"+suffix, f)
	if err != nil {
		return nil, err
	}
	row = append(row, p)
	shareAxes(row)
	return row, nil
}

// shortLabel is a label as Styles prints it, of a length that a title has room for.
func shortLabel(label string) string { return cut(Styles(label)[0].Name, longestName/2) }

// pathPanel draws the paths of an episode's agents, and other points over them if there are any.
func pathPanel(in *results.Trace, path, over [][2]float64, title string, f Figure) (*plot.Plot, error) {
	clouds := byAgent(in, path)
	for i := range clouds {
		clouds[i].Trail, clouds[i].Faint = true, over != nil
		for k := range clouds[i].Points {
			clouds[i].Dark = append(clouds[i].Dark, in.Sees(k*stride(in), i))
		}
	}
	if over != nil {
		clouds = append(clouds, byAgent(in, over)...)
	}
	f.Title = title
	return scatter(f, clouds...)
}

// shareAxes gives all plots the limits that hold the points of each.
func shareAxes(plots []*plot.Plot) {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, p := range plots {
		low = [2]float64{min(low[0], p.X.Min), min(low[1], p.Y.Min)}
		high = [2]float64{max(high[0], p.X.Max), max(high[1], p.Y.Max)}
	}
	for _, p := range plots {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low[0], high[0], low[1], high[1]
	}
}

// Ends draws how far s_t, and x_t by what it predicts, are from where the path of s_t ends, over the episode; one panel
// an agent. Where the line of x_t is the lower one, x_t lies nearer to the end than s_t. The ground is coloured while
// another agent is in sight.
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
