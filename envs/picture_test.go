// SPDX-License-Identifier: Apache-2.0

package envs

import "testing"

// Two views of 2×3 cells; the value of every pixel encodes its tile, line and column.
func TestRGBLaysPicturesSideBySide(t *testing.T) {
	s := &Spec{Obs: []int{2, 3}, Pixels: make([]uint8, 4*cellBytes)}
	for v := range 4 {
		for k := range CellPixels * CellPixels {
			at := v*cellBytes + 3*k
			s.Pixels[at], s.Pixels[at+1], s.Pixels[at+2] = uint8(v), uint8(k/CellPixels), uint8(k%CellPixels)
		}
	}
	cells := []uint16{0, 1, 2, 3, 2, 1, 3, 3, 0, 0, 1, 2}
	dst := make([]uint8, 2*16*24*3)
	s.RGB(dst, cells)
	for k := range len(dst) / 3 {
		view, y, x := k/(16*24), k/24%16, k%24
		want := [3]uint8{uint8(cells[view*6+y/8*3+x/8]), uint8(y % 8), uint8(x % 8)}
		if got := [3]uint8(dst[3*k:]); got != want {
			t.Fatalf("view %d, line %d, column %d is %v, want %v", view, y, x, got, want)
		}
	}
}

func TestCellObservationsHaveNumbersBesideThem(t *testing.T) {
	s := &Spec{NumEnvs: 2, Agents: 3, Obs: []int{5, 4}, Scalars: 7}
	if s.ObsLen() != 7 || s.CellLen() != 20 {
		t.Errorf("rows have %d numbers and %d cells, want 7 and 20", s.ObsLen(), s.CellLen())
	}
	if out := NewStep(s); len(out.Obs) != 2*3*7 || len(out.Cells) != 2*3*20 {
		t.Errorf("a Step has %d numbers and %d cells, want 42 and 120", len(out.Obs), len(out.Cells))
	}
	s = &Spec{NumEnvs: 2, Agents: 3, Obs: []int{18}}
	if out := NewStep(s); s.ObsLen() != 18 || s.CellLen() != 0 || len(out.Obs) != 2*3*18 || out.Cells != nil {
		t.Errorf("vectors: rows have %d numbers and %d cells", s.ObsLen(), s.CellLen())
	}
}
