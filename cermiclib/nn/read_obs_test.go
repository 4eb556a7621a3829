// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// tiledSpec shows 5 by 6 cells of 7 kinds, whose pictures are noise, and 2 numbers.
func tiledSpec() *envs.Spec {
	s := &envs.Spec{Obs: []int{5, 6}, Scalars: 2, Pixels: make([]uint8, 7*8*8*3)}
	r := rng.New(3, "pictures")
	for i := range s.Pixels {
		s.Pixels[i] = uint8(r.IntN(256))
	}
	return s
}

// tiledView draws observations [rows,I+extra] of s.
func tiledView(s *envs.Spec, rows, extra int) []float32 {
	r := rng.New(4, "view")
	var v []float32
	for range rows {
		for i := range s.InLen() + extra {
			if x := float32(r.IntN(7)); i >= s.Scalars && i < s.InLen() {
				v = append(v, x)
			} else {
				v = append(v, r.Norm())
			}
		}
	}
	return v
}

// seePixels is ReadObs as plain convolutions over the picture [B,8H,8W,3], with the variables of ReadObs.
func seePixels(sc *model.Scope, picture, numbers *Node) *Node {
	sc = sc.At("see")
	x := DivScalar(picture, 255)
	for i, c := range []struct{ in, out, kernel, stride int }{{3, 32, 8, 8}, {32, 64, 3, 1}, {64, 64, 3, 1}} {
		at := sc.At("conv_%d", i)
		w := Weight(at, x, "weights", AllZero, c.kernel*c.kernel*c.in, c.out)
		y := Convolve(x, Reshape(w, c.kernel, c.kernel, c.in, c.out)).Strides(c.stride).NoPadding().Done()
		x = LeakyReLU(Add(y, ExpandLeftToRank(Weight(at, x, "bias", AllZero, c.out), 4)))
	}
	x = LeakyReLU(Linear(sc.At("dense"), Reshape(x, x.Shape().Dimensions[0], -1), 256))
	return Concatenate([]*Node{x, numbers}, -1)
}

func TestCellsAreSeenAsThePixelsThatTheyStandFor(t *testing.T) {
	const rows, extra = 3, 1
	b, s := goBuild(t, 5), tiledSpec()
	view, width := tiledView(s, rows, extra), s.InLen()+extra
	see := must.Value(NewProgram(b, "see", []Input{F32("in", 1, rows, width)}, func(sc *model.Scope, in []*Node) []*Node {
		return []*Node{ReadObs(sc, s, in[0])}
	}))
	pixels := must.Value(NewProgram(b, "pixels", []Input{F32("picture", rows, 40, 48, 3), F32("numbers", rows, 3)}, func(sc *model.Scope, in []*Node) []*Node {
		return []*Node{seePixels(sc, in[0], in[1])}
	}))
	see.Feed(0, func(dst []float32) { copy(dst, view) })
	for k := range rows {
		one := view[k*width : (k+1)*width]
		cells := make([]uint16, s.CellLen())
		for i := range cells {
			cells[i] = uint16(one[s.Scalars+i])
		}
		rgb := make([]uint8, 40*48*3)
		s.RGB(rgb, cells)
		pixels.Feed(0, func(dst []float32) {
			for i, v := range rgb {
				dst[k*len(rgb)+i] = float32(v)
			}
		})
		pixels.Feed(1, func(dst []float32) { copy(dst[k*3:], []float32{one[0], one[1], one[width-1]}) })
	}
	got, want := make([]float32, rows*(256+3)), make([]float32, rows*(256+3))
	for p, out := range map[*Program][]float32{see: got, pixels: want} {
		must.Do(t, p.Run())
		p.Read(0, out)
	}
	live := 0
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-5 { // sums of some hundred float32 of order 1 in another order
			t.Fatalf("feature %d is %g, by convolutions over pixels %g", i, got[i], want[i])
		}
		if want[i] > 0 {
			live++
		}
	}
	if live < rows*64 || got[0] == got[256+3] {
		t.Errorf("%d of %d features are positive, and the first of two views is %g and %g", live, len(want), got[0], got[256+3])
	}
	if ObsFeatures(s) != 256+2 {
		t.Errorf("an observation becomes %d features, said to be %d", 256+2, ObsFeatures(s))
	}
}

func TestVectorsAreSeenAsTheyAre(t *testing.T) {
	b, s := goBuild(t, 5), &envs.Spec{Obs: []int{4}}
	_, err := NewProgram(b, "see", []Input{F32("in", 2, 3, 4)}, func(sc *model.Scope, in []*Node) []*Node {
		if ReadObs(sc, s, in[0]) != in[0] {
			t.Error("a vector is not the node that it was")
		}
		return in
	})
	if vars := Variables(b.Store, ""); err != nil || len(vars) != 0 || ObsFeatures(s) != 4 || s.InLen() != 4 {
		t.Errorf("%d variables, features of length %d, error %v", len(vars), ObsFeatures(s), err)
	}
}

func TestGridsTooSmallForThreeConvolutionsAreRefused(t *testing.T) {
	b, s := goBuild(t, 5), tiledSpec()
	s.Obs = []int{5, 4}
	_, err := NewProgram(b, "see", []Input{F32("in", 1, s.InLen())}, func(sc *model.Scope, in []*Node) []*Node {
		return []*Node{ReadObs(sc, s, in[0])}
	})
	must.Refuse(t, err, "networks read grids of 5 by 5 cells or more")
}

func TestViewsWithoutNumbersAreSeen(t *testing.T) {
	b, s := goBuild(t, 5), tiledSpec()
	s.Scalars = 0
	_, err := NewProgram(b, "see", []Input{F32("in", 4, s.InLen())}, func(sc *model.Scope, in []*Node) []*Node {
		out := ReadObs(sc, s, in[0])
		out.AssertDims(4, 256)
		return []*Node{out}
	})
	must.Do(t, err)
}
