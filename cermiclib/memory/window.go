// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"cermic/cermiclib/rl"
)

// Window holds what a memory with chunks of single steps reads about an agent step: observations and, for recurrent
// memories, the hidden state before it. So f_n of a kept agent step can be computed again after the weights changed.
type Window struct {
	mem   Memory
	parts []part
	rows  int // agent steps of the last Gather
}

// part is one input of the memory, [outer,B,inner] with agent steps on the middle axis.
type part struct {
	dims               []int // for B = 1
	axis, outer, inner int
	flat               []float32
}

// NewWindow returns a Window on the inputs of m, from OneStep.
func NewWindow(m Memory) *Window {
	w := &Window{mem: m}
	two := m.Inputs(2)
	for i, in := range m.Inputs(1) {
		p := part{dims: in.Dims, outer: 1, inner: 1}
		for in.Dims[p.axis] == two[i].Dims[p.axis] {
			p.axis++
		}
		for axis, n := range in.Dims {
			if axis < p.axis {
				p.outer *= n
			} else {
				p.inner *= n
			}
		}
		w.parts = append(w.parts, p)
	}
	return w
}

// Len is the length of a row.
func (w *Window) Len() (n int) {
	for _, p := range w.parts {
		n += p.outer * p.inner
	}
	return n
}

// Gather reads agent steps of x; a Watcher must have watched x.
func (w *Window) Gather(x *rl.Rollout, rows []int32) {
	w.rows = len(rows)
	w.mem.Gather(w, 0, x, rows)
}

// Feed implements nn.Feeder.
func (w *Window) Feed(i int, fill func(dst []float32)) {
	p := &w.parts[i]
	n := p.outer * w.rows * p.inner
	p.flat = slices.Grow(p.flat[:0], n)[:n]
	fill(p.flat)
}

// Row writes the inputs of the k-th gathered agent step into dst [Len].
func (w *Window) Row(dst []float32, k int) {
	for _, p := range w.parts {
		for o := range p.outer {
			dst = dst[copy(dst, p.flat[(o*w.rows+k)*p.inner:][:p.inner]):]
		}
	}
}

// Inputs returns the memory's inputs for rows [B,Len].
func (w *Window) Inputs(rows *Node) (in []*Node) {
	b, at := rows.Shape().Dimensions[0], 0
	for _, p := range w.parts {
		x := Slice(rows, AxisRange(), AxisRange(at, at+p.outer*p.inner))
		at += p.outer * p.inner
		dims := slices.Clone(p.dims)
		dims[p.axis] = b
		in = append(in, Reshape(TransposeAllDims(Reshape(x, b, p.outer, p.inner), 1, 0, 2), dims...))
	}
	return in
}
