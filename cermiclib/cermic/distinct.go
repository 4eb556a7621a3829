// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"hash/maphash"
	"slices"
	"unsafe"
)

// distinct holds features [U,F] of agent steps, once for all steps with the same input. In a world of few states thousands of
// steps share a dozen, and neither features nor distances are computed twice.
type distinct struct {
	flat []float32 // [U,F]
	of   []int32   // [B] which of the U a step has
}

// at is the k-th of the U features.
func (d *distinct) at(k, width int) []float32 { return d.flat[k*width : (k+1)*width] }

// count is U.
func (d *distinct) count() int {
	if len(d.of) == 0 {
		return 0
	}
	return int(slices.Max(d.of)) + 1
}

// weights sums what the agent steps of each of the U features weigh.
func (d *distinct) weights(of func(row int) float64) []float64 {
	w := make([]float64, d.count())
	for row, at := range d.of {
		w[at] += of(row)
	}
	return w
}

// find fills d.of for rows agent steps and returns the first step of each of the U kinds. Steps are alike whose inputs are the
// same in every bit; actions of length 0 are left out.
func (d *distinct) find(f steps, rows, obs, act int) (first []int) {
	one, other, seed := make([]float32, obs+act), make([]float32, obs+act), maphash.MakeSeed()
	read := func(to []float32, row int) []byte {
		f.obs(to[:obs], row)
		if act > 0 {
			f.act(to[obs:], row)
		}
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(to))), 4*len(to))
	}
	d.of = slices.Grow(d.of[:0], rows)[:rows]
	known := make(map[uint64]int32)
	for row := range d.of {
		bits := read(one, row)
		name := maphash.Bytes(seed, bits)
		at, ok := known[name]
		if !ok || !slices.Equal(bits, read(other, first[at])) {
			at = int32(len(first))
			known[name], first = at, append(first, row)
		}
		d.of[row] = at
	}
	return first
}
