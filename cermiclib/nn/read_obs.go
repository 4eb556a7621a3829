// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
)

// Sizes of the network that reads cells: three convolutions and a dense layer.
const (
	pictureChannels = 32 // of the first convolution, kernel 8, stride 8: one result for each cell
	cellChannels    = 64 // of the second and the third, kernel 3
	obsWidth        = 256
)

// leastGrid is the height and the width below which two convolutions of kernel 3 leave nothing.
const leastGrid = 5

// ObsFeatures is F, the length of the result of ReadObs for one observation of a task.
func ObsFeatures(s *envs.Spec) int {
	if s.CellLen() == 0 {
		return s.ObsLen()
	}
	return obsWidth + s.Scalars
}

// ReadObs is the first part of every network that reads observations in [...,I], I = Spec.InLen(). Vectors pass
// unchanged. Cells go through the convolutional network of the paper's table and become features [...,F], the observed
// numbers last. Numbers behind the observation, an agent's one-hot say, pass too. Its variables lie below sc's own
// scope "see".
//
// The picture of an observation is made of tiles of 8 by 8 pixels, and the first convolution has kernel and stride 8.
// So it has one result for each kind of tile: it is one product with the table of all tiles, and the cells pick their
// rows. This is the same as a convolution over the pixels, at a thousandth of the cost.
//
// Reading: the paper gives only the number of convolutions. The usual kernels 8, 4, 3 have strides 4, 2, 1. Kernels 8,
// 3, 3 without padding end at the same grids: 7 by 7 for 88 by 88 pixels and 1 by 1 for 40 by 40.
func ReadObs(sc *model.Scope, s *envs.Spec, in *Node) *Node {
	if s.CellLen() == 0 {
		return in
	}
	d := in.Shape().Clone().Dimensions
	numbers, tiles := ReadTiles(sc, s, in)
	seen := readGrid(sc.At("see"), Reshape(tiles, -1, s.Obs[0], s.Obs[1], pictureChannels))
	out := Concatenate(append([]*Node{seen}, numbers...), -1)
	d[len(d)-1] = out.Shape().Dimensions[1]
	return Reshape(out, d...)
}

// ReadTiles is the first convolution alone. It maps observations [...,I] to the numbers before and behind the cells
// [B,·], if any, and the tiles' features [B,H·W,32].
func ReadTiles(sc *model.Scope, s *envs.Spec, in *Node) (numbers []*Node, tiles *Node) {
	d := in.Shape().Dimensions
	in = Reshape(in, -1, d[len(d)-1])
	part := func(from, to int) *Node { return Slice(in, AxisRange(), AxisRange(from, to)) }
	x, cells := s.Scalars, s.CellLen()
	for _, run := range [][2]int{{0, x}, {x + cells, d[len(d)-1]}} {
		if run[0] < run[1] {
			numbers = append(numbers, part(run[0], run[1]))
		}
	}

	first, number := sc.At("see").At("conv_0"), Reshape(ConvertDType(part(x, x+cells), dtypes.Int32), -1, 1)
	table := LeakyReLU(Linear(first, pictures(in, s), pictureChannels))
	return numbers, Reshape(Gather(table, number), -1, cells, pictureChannels)
}

// pictures is the table of all pictures that a cell can show, one in a row, in [0, 1]: [V,192].
func pictures(like *Node, s *envs.Spec) *Node {
	const size = envs.CellPixels * envs.CellPixels * 3
	flat := make([]float32, len(s.Pixels))
	for i, v := range s.Pixels {
		flat[i] = float32(v) / 255
	}
	all := tensors.FromFlatDataAndDimensions(flat, len(flat)/size, size)
	return ConvertDType(Const(like.Graph(), all), like.DType())
}

// readGrid is the network behind the first convolution: x [B,H,W,32] to [B,256].
func readGrid(sc *model.Scope, x *Node) *Node {
	for i := range 2 {
		x = LeakyReLU(conv3(sc.At("conv_%d", i+1), x, cellChannels))
	}
	return LeakyReLU(Linear(sc.At("dense"), Reshape(x, x.Shape().Dimensions[0], -1), obsWidth))
}

// conv3 is a convolution with kernel 3 and without padding, x [B,H,W,C] to [B,H-2,W-2,out]. It is one matrix product
// over the shifted grids side by side. This is several times quicker than the general one on XLA's CPU, and a thousand
// times on the Go backend.
func conv3(sc *model.Scope, x *Node, out int) *Node {
	d := x.Shape().Dimensions
	b, h, w, c := d[0], d[1]-2, d[2]-2, d[3]
	if h < 1 || w < 1 {
		panic(fmt.Errorf("networks read grids of %d by %d cells or more", leastGrid, leastGrid))
	}
	shifted := make([]*Node, 0, 9)
	for dy := range 3 {
		for dx := range 3 {
			shifted = append(shifted, Slice(x, AxisRange(), AxisRange(dy, dy+h), AxisRange(dx, dx+w), AxisRange()))
		}
	}
	patches := Reshape(Concatenate(shifted, -1), b*h*w, 9*c)
	return Reshape(Linear(sc, patches, out), b, h, w, out)
}
