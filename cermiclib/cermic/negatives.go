// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// What negatives are (neg_kind).
//
// Reading: the main text adds noise to f_n, the appendix draws negatives independently, which its proof needs. With noise the
// critic measures denoising, and γ_lo is positive even for independent variables. The features suffer, too: on navigation,
// after 90,000 frames, their spread is 0.21 with noise and 0.80 without, γ 0.20 to 0.29 and 0.79 to 0.88. So the appendix's is the default (D9).
const (
	NegativesMarginal = "marginal" // f_n of other agent steps of the minibatch, from other environments of the task where it holds some
	NegativesNoise    = "noise"    // f_n plus noise
)

// spreadTiny keeps the length of a vector differentiable at zero.
const spreadTiny = 1e-12

// negativeScores returns the critic's scores of the negatives [B,K], for query [B,F] and f_n [B,F], and those rows of weight [B] that
// have negatives.
//
// For noise, negative [B,K] holds standard normal numbers. A negative is f_n + κ·s⊙ε with ε ~ N(0, I) and s the spread of f_n over
// the minibatch, and its score g is linear in it: g(f_n) + κ·⟨query⊙s, ε⟩, and the inner product is N(0, ‖query⊙s‖²). So one
// number for each score has exactly the distribution of drawing all F components of the noise, for 1/F of the work.
//
// Reading: gradients pass through f_n and s in its negatives, too. Stopping either leaves the loss with a way out that the
// paper cannot mean: features that are the same for everyone, with γ = 0. (Spread of f_n after 750 gradient steps, from
// 0.58: 0.06 with a fixed s, 0.09 within 500 with a fixed f_n, 0.27 as it is, with γ from 0.24 to 0.34. With
// critic_squash=softmax it still collapses to 0.09.)
//
// For marginal, negative [B,K] holds the minibatch rows of other agent steps, as int32, or with neg_filter what others reads.
func (c Config) negativeScores(query, now, negative, weight *Node) (scores, counted *Node) {
	if c.NegKind == NegativesMarginal {
		if c.NegFilter {
			negative, weight = others(negative, weight)
		}
		return pick(Dot(query, Transpose(now, 0, 1)).Product(), negative), weight
	}
	variance := Mul(Square(query), componentVariance(now, weight))
	length := Sqrt(AddScalar(ReduceAndKeep(variance, ReduceSum, -1), spreadTiny))
	centre := ReduceAndKeep(Mul(query, now), ReduceSum, -1)
	return Add(centre, Mul(nn.Times(length, "cermic/neg_scale", c.NegScale), negative)), weight
}

// pick returns scores[b, rows[b,k]] [B,K] for scores [B,B].
func pick(scores, rows *Node) *Node {
	dims := rows.Shape().Dimensions
	own := Iota(rows.Graph(), rows.Shape(), 0)
	at := Concatenate([]*Node{InsertAxes(own, -1), InsertAxes(rows, -1)}, -1) // [B,K,2]
	return Reshape(Gather(scores, at), dims...)
}

// With neg_filter, negatives come from the marginal of the positives: agent steps of the minibatch that have an f_{n-1} themselves,
// of other environments of the task where there are any, and never the row itself. Drawn from all rows, of which many have the features of
// an empty graph, γ tells whether a peer was ever detected: with no information at all it is 0.67 where 4 % of the rows have an
// f_{n-1} (D24).
//
// Only the graph of the gradient step knows which rows these are, so the host sends, beside random numbers, the rows in the order of
// their environments: the rows of an environment are then a segment, and drawing from all others is drawing from a line with a gap.

// Columns of what filtered negatives are drawn with, behind K random numbers below drawLimit.
const (
	drawOrder = iota // row that stands at this place when rows are ordered by environment
	drawPlace        // place of this row in that order
	drawFirst        // first place of its copy
	drawLast         // place behind the last one of its copy
	drawColumns
)

// drawLimit is the number of values of a random number, which a float32 holds exactly.
const drawLimit = 1 << 24

// draws fills dst [B,K+drawColumns] for the rows of a minibatch.
func draws(dst []int32, k int, x *rl.Rollout, rows []int32, r *rng.Rand) {
	place := func(row int32) int32 { return row / int32(x.N) % int32(x.E) }
	order := make([]int32, len(rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(place(rows[a]) - place(rows[b])) })
	width := k + drawColumns
	for i := range rows {
		for j := range k {
			dst[i*width+j] = int32(r.IntN(drawLimit))
		}
		dst[i*width+k+drawOrder] = order[i]
	}
	for first := 0; first < len(order); {
		last := first
		for last < len(order) && place(rows[order[last]]) == place(rows[order[first]]) {
			last++
		}
		for at := first; at < last; at++ {
			own := dst[int(order[at])*width+k:]
			own[drawPlace], own[drawFirst], own[drawLast] = int32(at), int32(first), int32(last)
		}
		first = last
	}
}

// others turns drawn [B,K+drawColumns] into the rows of negatives [B,K], int32, among the rows of weight [B], and returns the weight
// of those that have any: a row that has no other to be set against counts no more.
func others(drawn, weight *Node) (rows, counted *Node) {
	g, dtype := weight.Graph(), weight.DType()
	b, k := drawn.Shape().Dimensions[0], drawn.Shape().Dimensions[1]-drawColumns
	column := func(i int) *Node { return Reshape(Slice(drawn, AxisRange(), AxisRange(k+i, k+i+1)), b) }
	at := func(x, index *Node) *Node { return Gather(x, InsertAxes(index, -1)) }
	order := column(drawOrder)

	valid := at(weight, order)                                                // [B] by place
	until := Dot(ConvertDType(LowerTriangular(g, b), dtype), valid).Product() // [B] how many of them up to and with each place
	before := Concatenate([]*Node{Zeros(g, shapes.Make(dtype, 1)), until}, 0) // [B+1] and before each place
	count := ReduceAllSum(weight)

	own, after := at(before, column(drawFirst)), at(before, column(drawLast))
	alone := Equal(Sub(count, Sub(after, own)), ZerosLike(own)) // there are none of another environment: those of its own must do, but itself
	place := column(drawPlace)
	own = Where(alone, at(before, place), own)
	after = Where(alone, at(until, place), after)
	free := Sub(count, Sub(after, own)) // [B]
	counted = Mul(weight, ConvertDType(GreaterThan(free, ZerosLike(free)), dtype))

	share := DivScalar(ConvertDType(Slice(drawn, AxisRange(), AxisRange(0, k)), dtype), drawLimit)
	nth := Floor(Mul(share, InsertAxes(free, -1)))
	nth = Add(nth, Mul(ConvertDType(GreaterOrEqual(nth, InsertAxes(own, -1)), dtype), InsertAxes(Sub(after, own), -1))) // over the gap
	nth = ConvertDType(ClipScalar(nth, 0, float64(b-1)), dtypes.Int32)                                                  // [B,K]

	// The n-th that counts: of each place, whether n of them come before it, and the row that stands there.
	n := Iota(g, shapes.Make(dtype, b, b), 0)
	hits := Mul(ConvertDType(Equal(n, ExpandLeftToRank(Sub(until, valid), 2)), dtype), ExpandLeftToRank(valid, 2))
	table := ConvertDType(ReduceSum(Mul(hits, ExpandLeftToRank(ConvertDType(order, dtype), 2)), -1), dtypes.Int32)
	return Reshape(Gather(table, InsertAxes(nth, -1)), b, k), counted
}
