// SPDX-License-Identifier: Apache-2.0

package vmas

import "cermic/envs"

// label fills the presence labels and relative positions of copy c.
//
// paper:detector  agent i perceives agent j if j's surface lies within i's field of view (the range of its lidar, else
// Settings.FieldOfView), measured from i's centre, or if the surfaces are less than one body length (i's diameter) apart.
func (e *env) label(c int, out *envs.Step) {
	w, n := e.world, len(e.policy)
	at := c * n * n
	for i, agentI := range e.policy {
		from, view, size := w.Pos(c, w.Agent(agentI)), e.view[i], w.body[w.Agent(agentI)].bound
		for j, agentJ := range e.policy {
			k := at + i*n + j
			offset := w.Pos(c, w.Agent(agentJ)).Sub(from)
			out.RelPos[2*k], out.RelPos[2*k+1] = offset.X/w.spec.HalfSize, offset.Y/w.spec.HalfSize
			reach := w.body[w.Agent(agentJ)].bound + max(view, 3*size) // 3·size: own radius and a diameter
			out.Seen[k] = 0
			if i != j && square(offset) <= reach*reach {
				out.Seen[k] = 1
			}
		}
	}
}
