// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cermic/cermiclib/results"
)

// spreadScalar is explore.SpreadScalar, whose package needs GoMLX.
const spreadScalar = "explore/spread"

// bonusSpread is a sentence on how much the bonus of each method varies from step to step, the part of it that a policy
// gradient responds to: the mean over runs in their first and in their last rollout batch. It is empty where no run
// recorded it.
func bonusSpread(shown []*results.Record) string {
	first, last, seen := map[string][]float64{}, map[string][]float64{}, map[string]bool{}
	for _, r := range shown {
		if points := r.Scalars[spreadScalar]; len(points) > 0 && !seen[r.ID] {
			seen[r.ID] = true
			first[r.Method], last[r.Method] = append(first[r.Method], points[0].Value), append(last[r.Method], points[len(points)-1].Value)
		}
	}
	var methods []string
	for _, m := range slices.Sorted(maps.Keys(first)) {
		methods = append(methods, fmt.Sprintf("%s %.2g to %.2g", m, average(first[m]), average(last[m])))
	}
	if len(methods) == 0 {
		return ""
	}
	return "Standard deviation of the weighted bonus a step, first to last rollout batch: " + strings.Join(methods, ", ") + "."
}
