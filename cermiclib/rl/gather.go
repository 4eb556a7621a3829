// SPDX-License-Identifier: Apache-2.0

package rl

import "cermic/envs"

// Gather writes the network inputs of all agents, observations then cells, into dst [E·N,I] with I = Spec.InLen().
func (in *Obs) Gather(dst []float32, s *envs.Spec) { gather(dst, s, in.Obs, in.Cells) }

// Gather writes the network input of an agent step into dst [I].
func (x *Rollout) Gather(dst []float32, row int) { x.GatherFrom(dst[:x.Spec.InLen()], row) }

// GatherFrom is Gather for consecutive agent steps from row, as many as fit into dst. Rows of time step T are allowed.
func (x *Rollout) GatherFrom(dst []float32, row int) {
	o, h, n := x.Spec.ObsLen(), x.Spec.CellLen(), len(dst)/x.Spec.InLen()
	gather(dst, x.Spec, x.Obs[row*o:(row+n)*o], x.Cells[row*h:(row+n)*h])
}

// GatherNext writes the true next observation of an agent step, also at the end of an episode, into dst [I].
func (x *Rollout) GatherNext(dst []float32, step int) {
	next, o, h := x.next(step/x.N), x.Spec.ObsLen(), x.Spec.CellLen()
	gather(dst[:o+h], x.Spec, row(next.obs, step%x.N, o), row(next.cells, step%x.N, h))
}

// Next gathers the true next observations of rows into dst [len(rows), I].
func (x *Rollout) Next(dst []float32, rows []int32) {
	width := x.Spec.InLen()
	for k, row := range rows {
		x.GatherNext(dst[k*width:(k+1)*width], int(row))
	}
}

// gather writes observations obs [B,O] and cells [B,H,W] next to each other into dst [B,I].
func gather(dst []float32, s *envs.Spec, obs []float32, cells []uint16) {
	o, h := s.ObsLen(), s.CellLen()
	if h == 0 {
		copy(dst, obs)
		return
	}
	for b := range len(dst) / (o + h) {
		to := dst[b*(o+h) : (b+1)*(o+h)]
		copy(to, obs[b*o:(b+1)*o])
		for i, cell := range cells[b*h : (b+1)*h] {
			to[o+i] = float32(cell)
		}
	}
}

// GatherAlive writes 1 for each living agent of frames into dst [B,N], 0 elsewhere and in the rows beyond.
func (x *Rollout) GatherAlive(dst []float32, frames []int32) {
	clear(dst)
	for k, frame := range frames {
		for i, alive := range row(x.Alive, int(frame), x.N) {
			dst[k*x.N+i] = float32(alive)
		}
	}
}

// GatherMask writes 1 for each allowed action of a frame into dst [N,K].
func (x *Rollout) GatherMask(dst []float32, frame int) {
	for i := range dst {
		if dst[i] = 1; x.Mask != nil {
			dst[i] = float32(x.Mask[frame*len(dst)+i])
		}
	}
}
