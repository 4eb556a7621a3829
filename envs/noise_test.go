// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/envs/envtest/must"
)

func TestNoiseCoversOnlyWhatIsInTheBox(t *testing.T) {
	box := Noise{X: 1, Y: -2, Width: 0.5, Height: 0.25, Scale: 3}
	for _, c := range []struct {
		x, y    float32
		covered bool
	}{
		{1, -2, true}, {0.75, -2.125, true}, {1.25, -1.875, true}, {0.74, -2, false}, {1.26, -2, false}, {1, -2.13, false},
		{1, -1.87, false}, {0, 0, false},
	} {
		obs := []float32{7, 7, 7}
		box.Cover(obs, c.x, c.y, 1, 2, 3)
		for _, v := range obs {
			if (v != 7) != c.covered {
				t.Errorf("at (%g, %g): %v, want noise: %v", c.x, c.y, obs, c.covered)
			}
		}
	}
	obs := []float32{7}
	if (&Noise{Scale: 1}).Cover(obs, 0, 0, 1); obs[0] != 7 {
		t.Error("no box covers the origin")
	}
}

// Mean 0 and standard deviation Scale, within four standard errors of 20000 normal numbers. Equal names give equal
// noise, other steps and observers other noise.
func TestNoiseIsNormalAndNamedByItsIndices(t *testing.T) {
	box := Noise{Width: 1, Height: 1, Scale: 2}
	const n = 20000
	draw := func(seed uint64, index ...uint64) []float32 {
		obs := make([]float32, n)
		box.Cover(obs, 0, 0, seed, index...)
		return obs
	}
	a := draw(5, 1, 2)
	deviations := make([]float64, n)
	for i, x := range a {
		deviations[i] = float64(x) / 2
	}
	mean, square := stat.Mean(deviations, nil), stat.MomentAbout(2, deviations, 0, nil)
	if math.Abs(mean) > 4/math.Sqrt(n) || math.Abs(square-1) > 4*math.Sqrt(2/float64(n)) {
		t.Errorf("mean is %g deviations, the mean square %g times that of the setting", mean, square)
	}
	if b := draw(5, 1, 2); b[0] != a[0] || b[n-1] != a[n-1] {
		t.Error("equal names give different noise")
	}
	for _, other := range [][]float32{draw(6, 1, 2), draw(5, 2, 1), draw(5, 1, 3)} {
		if other[0] == a[0] && other[1] == a[1] {
			t.Error("different names give the same noise")
		}
	}
}

func TestImpossibleNoiseIsNamed(t *testing.T) {
	nan := float32(math.NaN())
	for key, bad := range map[string]Noise{
		"noise.x": {X: nan}, "noise.y": {Y: nan}, "noise.width": {Width: -1}, "noise.height": {Width: 1},
		"noise.scale": {Width: 1, Height: 1, Scale: -1},
	} {
		must.RefuseAs(t, Common{NumEnvs: 1, Reward: Dense, Noise: bad}.Validate("some/task"), "some/task: ", key)
	}
	for _, unseen := range []Noise{{Scale: 1}, {X: 1}, {Y: -1}} {
		err := Common{NumEnvs: 1, Reward: Dense, Noise: unseen}.Validate("some/task")
		must.RefuseAs(t, err, "some/task: ", "set noise.width and noise.height")
	}
	for _, fine := range []Noise{{}, DefaultNoise(), {X: -3, Width: 1, Height: 2}} {
		if err := (Common{NumEnvs: 1, Reward: Dense, Noise: fine}).Validate("some/task"); err != nil {
			t.Errorf("%+v: %v", fine, err)
		}
	}
}

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
