// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// PathsTable measures on episodes, all seen through one encoder, what the paper says of its figure of s_t and x_t.
// Distances are in units of the spread of all episodes' s_t, the root of their mean squared distance from their mean.
func PathsTable(episodes ...*results.Trace) viz.Table {
	t := viz.Table{Header: []string{"", "steps", "score", "steps with a visible peer", "s_t to the nearest of a peer's path",
		"s_t to a peer's at the same step", "x_t to s_t", "s_{t+1} to s_t", "x_t nearer to the path's end than s_t", "r^i with a visible peer", "r^i without"},
		Notes: []string{"One episode each: these describe the pictures and estimate nothing. x_t counts as where its decoder puts it among the s_t."}}
	unit := spread(episodes)
	for _, in := range episodes {
		p := pathsOf(in)
		row := []string{in.Method, fmt.Sprint(in.Steps), fmt.Sprintf("%.3g", in.Score), percent(p.met.mean())}
		for _, m := range []average{p.nearest, p.apart, p.off, p.moved} {
			row = append(row, number(m.mean()/unit))
		}
		row = append(row, percent(p.ahead.mean()), number(p.bonusSeen.mean()), number(p.bonusAlone.mean()))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// number is three digits, or a dash where nothing was averaged.
func number(v float64) string {
	if math.IsNaN(v) {
		return viz.Missing
	}
	return fmt.Sprintf("%.3g", v)
}

// percent is a share in whole percent, or a dash where nothing was averaged.
func percent(v float64) string {
	if math.IsNaN(v) {
		return viz.Missing
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// average adds up.
type average struct{ sum, n float64 }

func (a *average) add(v float64) { a.sum, a.n = a.sum+v, a.n+1 }

// mean is NaN without values.
func (a average) mean() float64 { return a.sum / a.n }

// paths are averages over the agent steps of an episode.
type paths struct {
	met                   average // 1 with another agent in sight
	nearest, apart        average // distance of s_t to the nearest s of another agent at any step, and to another's at this one
	off, moved            average // distance of ŝ_{t+1} and of s_{t+1} to s_t
	ahead                 average // 1 where ŝ_{t+1} is nearer to the last s than s_t is
	bonusSeen, bonusAlone average // r^i
}

func pathsOf(in *results.Trace) (p paths) {
	for t := range in.Steps {
		for i := range in.Agents {
			row := in.Row(t, i)
			s, end := in.Embed[row], in.Embed[in.Row(in.Steps-1, i)]
			p.nearest.add(nearest(in, row))
			for j := range in.Agents {
				if j != i {
					p.apart.add(floats.Distance(s, in.Embed[in.Row(t, j)], 2))
				}
			}
			if len(in.Predicted) > 0 {
				p.off.add(floats.Distance(in.Predicted[row], s, 2))
			}
			if t+1 < in.Steps {
				p.moved.add(floats.Distance(in.Embed[in.Row(t+1, i)], s, 2))
				if len(in.Predicted) > 0 {
					p.ahead.add(one(floats.Distance(in.Predicted[row], end, 2) < floats.Distance(s, end, 2)))
				}
			}
			sees := in.Sees(t, i)
			p.met.add(one(sees))
			if sees {
				p.bonusSeen.add(in.Bonus[row])
			} else {
				p.bonusAlone.add(in.Bonus[row])
			}
		}
	}
	return p
}

// nearest is the distance of an agent step's s to the nearest of all other agents'.
func nearest(in *results.Trace, row int) float64 {
	least := math.Inf(1)
	for other, s := range in.Embed {
		if other%in.Agents != row%in.Agents {
			least = min(least, floats.Distance(in.Embed[row], s, 2))
		}
	}
	return least
}

// spread is the root of the mean squared distance of all s_t from their mean.
func spread(episodes []*results.Trace) float64 {
	var mean []float64
	var square average
	for pass := range 2 {
		n := 0.0
		for _, in := range episodes {
			for _, s := range in.Embed {
				if mean == nil {
					mean = make([]float64, len(s))
				}
				if n++; pass == 0 {
					floats.Add(mean, s)
				} else {
					square.add(math.Pow(floats.Distance(s, mean, 2), 2))
				}
			}
		}
		if pass == 0 {
			floats.Scale(1/n, mean)
		}
	}
	return math.Sqrt(square.mean())
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
