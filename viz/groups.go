// SPDX-License-Identifier: Apache-2.0

package viz

import "cermic/cermiclib/results"

// GroupEvals is Evals for the return of one group of agents that is trained apart: the mean over each evaluation's episodes. Records
// without that group contribute nothing.
func GroupEvals(rs []*results.Record, group string) []Series {
	return collect(rs, func(r *results.Record) (points []results.Point) {
		for _, e := range r.Evals {
			if len(e.Groups[group]) > 0 {
				points = append(points, results.Point{Frames: e.Frames, Value: e.Group(group)})
			}
		}
		return points
	})
}
