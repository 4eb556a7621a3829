// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"

	"cermic/envs"
)

// typesOf lists, for every group of a task, its agents among the observers' peers: [K,P], 1 where agent j is of group k.
//
// Reading: a type is what looks alike. An environment does not tell looks, but its groups differ for the whole of a run. Where all peers
// are of one group, as they are unless the task says that opponents are peers, the single slot says whether anyone is in sight (D19).
func typesOf(s *envs.Spec) [][]float32 {
	teams := slices.Concat(s.Teams, s.Opponents)
	if s.Teams == nil {
		teams = make([]int, s.Peers())
	}
	var known []int
	var out [][]float32
	for j, team := range teams {
		k := slices.Index(known, team)
		if k < 0 {
			k = len(known)
			known, out = append(known, team), append(out, make([]float32, s.Peers()))
		}
		out[k][j] = 1
	}
	return out
}

// labelTypes marks every other agent of a type as present where one of them is: labels [P] of an observer, in place. Without
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
