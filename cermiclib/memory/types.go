// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"

	"cermic/envs"
)

// typesOf lists, for every team of a task, its agents: [K,N], 1 where agent j is in team k.
//
// Reading: a type is what looks alike. An environment does not tell looks, but teams are trained apart, and of the tasks here
// only they differ for the whole of a run. Where all agents are one team, the single slot says whether anyone is in sight (D19).
func typesOf(s *envs.Spec) [][]float32 {
	teams := s.Teams
	if teams == nil {
		teams = make([]int, s.Agents)
	}
	var known []int
	var out [][]float32
	for j, team := range teams {
		k := slices.Index(known, team)
		if k < 0 {
			k = len(known)
			known, out = append(known, team), append(out, make([]float32, s.Agents))
		}
		out[k][j] = 1
	}
	return out
}

// labelTypes marks every other agent of a type as present where one of them is: labels [N] of an observer, in place. Without
// det_slots=type it changes nothing.
func (m *graphMemory) labelTypes(labels []float32, observer int) {
	for _, members := range m.types {
		any := float32(0)
		for j, member := range members {
			if j != observer {
				any = max(any, member*labels[j])
			}
		}
		for j, member := range members {
			if member != 0 && j != observer {
				labels[j] = any
			}
		}
	}
}
