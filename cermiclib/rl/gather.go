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
func (x *Rollout) GatherNext(dst []float32, row int) {
	obs, cells := x.nextFrame(row / x.N)
	o, h, i := x.Spec.ObsLen(), x.Spec.CellLen(), row%x.N
	gather(dst[:o+h], x.Spec, obs[i*o:(i+1)*o], cells[i*h:(i+1)*h])
}

// nextFrame returns the true next observations of frame = t·E + c, also at the end of an episode: obs [N,O] and cells
// [N,H,W].
func (x *Rollout) nextFrame(frame int) (obs []float32, cells []uint16) {
	return afterFrame(x, frame, x.Obs, x.last.obs, x.N*x.Spec.ObsLen()),
		afterFrame(x, frame, x.Cells, x.last.cells, x.N*x.Spec.CellLen())
}

// afterFrame returns the values of the true next step of a frame, from the rollout's rows or from the finals'.
func afterFrame[T any](x *Rollout, frame int, rows, finals []T, width int) []T {
	if k := int(x.last.index[frame]); k >= 0 {
		return row(finals, k, width)
	}
	return row(rows, frame+x.E, width)
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
