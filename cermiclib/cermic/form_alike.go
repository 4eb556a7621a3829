// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"hash/maphash"
	"slices"
	"unsafe"
)

// alike holds features [U,F] of agent steps, once for all steps that the graph gets the same input for: in a world of few states thousands of
// steps share a dozen, and neither features nor distances are computed twice.
type alike struct {
	flat  []float32 // [U,F]
	width int       // F
	of    []int32   // [B] whose features a step has
}

// rows is the number of agent steps.
func (a *alike) rows() int { return len(a.of) }

// row is the features [F] of an agent step.
func (a *alike) row(row int) []float32 {
	at := int(a.of[row]) * a.width
	return a.flat[at : at+a.width]
}

// different are features [B,F] that are taken to differ.
func different(flat []float32, width int) *alike {
	a := &alike{flat: flat, width: width, of: make([]int32, len(flat)/width)}
	for i := range a.of {
		a.of[i] = int32(i)
	}
	return a
}

// distinct finds among rows agent steps those that no step before is like: first has their rows [U], of the one [B] that each step is like. Steps are
// alike whose inputs are the same in every bit; actions of length 0 are left out.
func (f steps) distinct(rows, obs, act int) (first []int, of []int32) {
	one, other, seed := make([]float32, obs+act), make([]float32, obs+act), maphash.MakeSeed()
	read := func(to []float32, row int) []byte {
		f.obs(to[:obs], row)
		if act > 0 {
			f.act(to[obs:], row)
		}
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(to))), 4*len(to))
	}
	of = make([]int32, rows)
	known := make(map[uint64]int32)
	for row := range of {
		bits := read(one, row)
		name := maphash.Bytes(seed, bits)
		at, ok := known[name]
		if !ok || !slices.Equal(bits, read(other, first[at])) {
			at = int32(len(first))
			known[name], first = at, append(first, row)
		}
		of[row] = at
	}
	return first, of
}

// only is what the agent steps at these rows observe and do.
func (f steps) only(rows []int) steps {
	return steps{
		obs: func(to []float32, row int) { f.obs(to, rows[row]) },
		act: func(to []float32, row int) { f.act(to, rows[row]) },
	}
}
