// SPDX-License-Identifier: Apache-2.0

package vmas

// Script visits the agent's share of the centres, then the nearby cells with the largest reward per distance.
func (s *sampling) Script(w *World, c, agent int) Vec {
	m := s.memory(w, c)
	self := w.Pos(c, w.Agent(agent))
	target, found := Vec{}, false
	for k := agent; k < s.Gaussians && !found; k += s.Agents {
		if m.visited[k] == 0 {
			target, found = Vec{m.centres[2*k], m.centres[2*k+1]}, true
		}
	}
	if !found {
		target = s.bestCell(&m, self)
	}
	const stiffness, damping = 10, 2
	return target.Sub(self).Mul(stiffness).Sub(w.Vel(c, w.Agent(agent)).Mul(damping))
}

// bestCell returns the centre of the best cell near p.
func (s *sampling) bestCell(m *samplingMemory, p Vec) Vec {
	const view = 4 // cells to each side
	index := s.index(p)
	x, y := index/s.ny, index%s.ny
	best, most := p, float32(-1)
	for i := max(0, x-view); i <= min(s.nx-1, x+view); i++ {
		for j := max(0, y-view); j <= min(s.ny-1, y+view); j++ {
			middle := s.middle(i, j)
			worth := s.unsampled(m, middle) / *m.peak / (s.cell + middle.Sub(p).Norm())
			if worth > most {
				best, most = middle, worth
			}
		}
	}
	return best
}
