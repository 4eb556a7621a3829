// SPDX-License-Identifier: Apache-2.0

package vmas

import "cermic/envs"

// label fills the presence labels and relative positions of environment c.
//
// paper:detector  Agent i perceives agent j if j's surface is within i's field of view, measured from i's centre. It
// also does if the gap between the surfaces is less than one body length (i's diameter). The field of view is the range
// of i's lidar or, without a lidar, Settings.FieldOfView.
func (e *env) label(c int, out *envs.Step) {
	w, n := e.world, len(e.policy)
	agents := w.pos[c*w.count+w.landmarks : (c+1)*w.count]
	scale := 1 / w.spec.HalfSize
	seen, rel := out.Visible[c*n*n:(c+1)*n*n], out.RelPos[2*c*n*n:2*(c+1)*n*n]
	for i := range n {
		from := agents[e.policy[i]]
		seen[i*n+i], rel[2*(i*n+i)], rel[2*(i*n+i)+1] = 0, 0, 0
		for j := range i {
			offset := agents[e.policy[j]].Sub(from)
			d := square(offset)
			there, back := i*n+j, j*n+i
			seen[there], seen[back] = within(d, e.reach[there]), within(d, e.reach[back])
			offset = offset.Mul(scale)
			rel[2*there], rel[2*there+1] = offset.X, offset.Y
			rel[2*back], rel[2*back+1] = -offset.X, -offset.Y
		}
	}
}

// within is 1 if x ≤ limit, else 0.
func within(x, limit float32) uint8 {
	if x <= limit {
		return 1
	}
	return 0
}

// reaches fills e.reach with the squared distance between centres within which agent i perceives agent j.
func (e *env) reaches() {
	w, n := e.world, len(e.policy)
	e.reach = make([]float32, n*n)
	for i, agentI := range e.policy {
		a := &w.spec.Agents[agentI]
		view, size := e.settings.FieldOfView, a.Shape.Bound()
		if len(a.Lidar.Angles) > 0 {
			view = a.Lidar.Range
		}
		for j, agentJ := range e.policy {
			reach := w.spec.Agents[agentJ].Shape.Bound() + max(view, 3*size) // 3·size: own radius and a diameter
			e.reach[i*n+j] = reach * reach
		}
	}
}
