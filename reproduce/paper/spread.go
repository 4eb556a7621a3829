// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/results"
)

// spreadScalar is explore.SpreadScalar, whose package needs GoMLX.
const spreadScalar = "explore/spread"

// bonusSpread is a sentence on how much the bonus of each method varies from step to step, which is what a policy gradient feels of it
// (SpreadScalar): the mean over its runs in their first and in their last rollout batch. It is empty where no run has recorded it.
func bonusSpread(shown []*results.Record) string {
	type ends struct{ first, last, runs float64 }
	spread, seen := map[string]ends{}, map[string]bool{}
	var methods []string
	for _, r := range shown {
		points := r.Scalars[spreadScalar]
		if len(points) == 0 || seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		add(&methods, r.Method)
		s := spread[r.Method]
		spread[r.Method] = ends{s.first + points[0].Value, s.last + points[len(points)-1].Value, s.runs + 1}
	}
	if len(methods) == 0 {
		return ""
	}
	slices.Sort(methods)
	for i, m := range methods {
		s := spread[m]
		methods[i] = fmt.Sprintf("%s %.2g to %.2g", m, s.first/s.runs, s.last/s.runs)
	}
	return "Standard deviation of the weighted bonus a step, first to last rollout batch: " + strings.Join(methods, ", ") + "."
}
