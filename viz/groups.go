// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/results"
)

// Evals turns groups of runs into one series each, in their order: the mean score of each evaluation's episodes, one
// line a seed. A fork begins on the line of its parent, if that is among the runs.
func Evals(gs []results.Group) []Series { return evals(gs, results.Eval.Score) }

// Early is Evals for the score of an episode's first steps, where the task counts them apart.
func Early(gs []results.Group) []Series {
	return evals(gs, func(e results.Eval) float64 { return stat.Mean(e.Early, nil) })
}

// GroupEvals is Evals for the return of a named group of agents.
func GroupEvals(gs []results.Group, name string) []Series {
	return evals(gs, func(e results.Eval) float64 { return e.Group(name) })
}

// evals turns groups of runs into one series each of a value of their evaluations. Records without it contribute
// nothing.
func evals(gs []results.Group, value func(results.Eval) float64) []Series {
	return collect(gs, func(r *results.Record) (points []results.Point) {
		for _, e := range r.Evals {
			if v := value(e); !math.IsNaN(v) {
				points = append(points, results.Point{Frames: e.Frames, Value: v})
			}
		}
		return points
	})
}

// ofGroups are the measures as the records have them: where a scalar is written for each group of agents that is
// trained apart, one measure a group.
func ofGroups(rs []*results.Record, measures []Measure) (out []Measure) {
	var names []string
	for _, r := range rs {
		for _, e := range r.Evals {
			names = slices.AppendSeq(names, maps.Keys(e.Groups))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	has := func(name string) bool {
		return slices.ContainsFunc(rs, func(r *results.Record) bool { return len(r.Scalars[name]) > 0 })
	}
	for _, m := range measures {
		own := []Measure{m}
		if m.Name != Score && !has(m.Name) {
			own = nil
			for _, group := range names {
				if has(group + "/" + m.Name) {
					own = append(own, Measure{group + "/" + m.Name, m.Title + ", " + group})
				}
			}
		}
		if len(own) == 0 {
			own = []Measure{m}
		}
		out = append(out, own...)
	}
	return out
}
