// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// Kinds of negatives (neg_kind).
//
// Reading: the main text adds noise to f_n. The appendix draws negatives independently, which its proof needs and which
// is the default. With noise the critic measures denoising: γ_lo is positive even for independent variables, and the
// features lose spread (D9).
const (
	NegativesMarginal = "marginal" // f_n of other agent steps of the minibatch, from other environments if it has any
	NegativesNoise    = "noise"    // f_n plus noise
)

// spreadTiny keeps a vector's length differentiable at zero.
const spreadTiny = 1e-12

// negativeScores returns the critic's scores of the negatives [B,K] for query [B,F] and f_n [B,F]. It also returns
// weight [B] with 0 for rows that have no negatives.
//
// For noise, negative [B,K] holds standard normal numbers. A negative is f_n + s⊙ε with ε ~ N(0, I) and s the standard
// deviation of f_n over the minibatch. Its score is linear: g(f_n) + ⟨query⊙s, ε⟩, where the inner product is
// N(0, ‖query⊙s‖²). So one number per score has the distribution of F noise components, for 1/F of the work.
//
// Reading: gradients also pass through f_n and s in the negatives. Stopping either allows an unintended solution:
// features that are equal for all agents, with γ = 0.
//
// For marginal, negative [B,K] holds minibatch rows of other agent steps as int32; with neg_filter it is filled by
// filteredDraws.
func (c Config) negativeScores(query, now, negative, weight *Node) (scores, counted *Node) {
	if c.NegKind == NegativesMarginal {
		if c.NegFilter {
			negative, weight = filteredRows(negative, weight)
		}
		return pick(Dot(query, Transpose(now, 0, 1)).Product(), negative), weight
	}
	variance := Mul(Square(query), componentVariance(now, weight))
	length := Sqrt(AddScalar(ReduceAndKeep(variance, ReduceSum, -1), spreadTiny))
	centre := ReduceAndKeep(Mul(query, now), ReduceSum, -1)
	return Add(centre, Mul(length, negative)), weight
}

// pick returns scores[b, rows[b,k]] [B,K] for scores [B,B].
func pick(scores, rows *Node) *Node {
	dims := rows.Shape().Dimensions
	query := Iota(rows.Graph(), rows.Shape(), 0)
	at := Concatenate([]*Node{InsertAxes(query, -1), InsertAxes(rows, -1)}, -1) // [B,K,2]
	return Reshape(Gather(scores, at), dims...)
}

// With neg_filter, negatives come from the marginal of the positives. They are rows that have an f_{n-1} themselves,
// never the row itself, and from other environments if there are any. If all rows were candidates, many would have the
// features of an empty graph. γ would then only measure whether a peer was ever detected (D24).
//
// Only the graph of the gradient step knows these rows. So the host sends random numbers and the rows sorted by
// environment. Each environment is then a segment, and a negative is uniform over the valid rows outside the segment.

// Columns of the input for filtered negatives, after K random numbers below drawLimit.
const (
	drawOrder = iota // row at this position when rows are sorted by environment
	drawPlace        // position of this row in that order
	drawFirst        // first position of its environment
	drawLast         // position after the last one of its environment
	drawColumns
)

// drawLimit bounds the random numbers; a float32 holds all integers below it exactly.
const drawLimit = 1 << 24

// filteredDraws fills dst [B,K+drawColumns] for the rows of a minibatch.
func filteredDraws(dst []int32, k int, x *rl.Rollout, rows []int32, r *rng.Rand) {
	env := func(row int32) int32 { return row / int32(x.N) % int32(x.E) }
	order := allRows(len(rows))
	slices.SortStableFunc(order, func(a, b int32) int { return int(env(rows[a]) - env(rows[b])) })
	width := k + drawColumns
	for i := range rows {
		for j := range k {
			dst[i*width+j] = int32(r.IntN(drawLimit))
		}
		dst[i*width+k+drawOrder] = order[i]
	}
	for first := 0; first < len(order); {
		last := first
		for last < len(order) && env(rows[order[last]]) == env(rows[order[first]]) {
			last++
		}
		for at := first; at < last; at++ {
			columns := dst[int(order[at])*width+k:]
			columns[drawPlace], columns[drawFirst], columns[drawLast] = int32(at), int32(first), int32(last)
		}
		first = last
	}
}

// filteredRows turns drawn [B,K+drawColumns] into rows of negatives [B,K], int32, among the rows of weight [B]. It also
// returns weight with 0 for rows that have no other row to draw from.
func filteredRows(drawn, weight *Node) (rows, counted *Node) {
	g, dtype := weight.Graph(), weight.DType()
	b, k := drawn.Shape().Dimensions[0], drawn.Shape().Dimensions[1]-drawColumns
	column := func(i int) *Node { return Reshape(Slice(drawn, AxisRange(), AxisRange(k+i, k+i+1)), b) }
	at := func(x, index *Node) *Node { return Gather(x, InsertAxes(index, -1)) }
	order := column(drawOrder)

	valid := at(weight, order)                                                // [B] in sorted order
	until := Dot(ConvertDType(LowerTriangular(g, b), dtype), valid).Product() // [B] valid rows up to each position
	before := Concatenate([]*Node{Zeros(g, shapes.Make(dtype, 1)), until}, 0) // [B+1] valid rows before each position
	count := ReduceAllSum(weight)

	// The excluded segment among valid rows: the environment, or only the row itself if there is no other environment.
	first, after := at(before, column(drawFirst)), at(before, column(drawLast))
	alone := Equal(Sub(count, Sub(after, first)), ZerosLike(first))
	place := column(drawPlace)
	first = Where(alone, at(before, place), first)
	after = Where(alone, at(until, place), after)
	free := Sub(count, Sub(after, first)) // [B] valid rows outside the segment
	counted = Mul(weight, ConvertDType(GreaterThan(free, ZerosLike(free)), dtype))

	share := DivScalar(ConvertDType(Slice(drawn, AxisRange(), AxisRange(0, k)), dtype), drawLimit)
	nth := Floor(Mul(share, InsertAxes(free, -1)))
	behind := ConvertDType(GreaterOrEqual(nth, InsertAxes(first, -1)), dtype)
	nth = Add(nth, Mul(behind, InsertAxes(Sub(after, first), -1)))     // skip the segment
	nth = ConvertDType(ClipScalar(nth, 0, float64(b-1)), dtypes.Int32) // [B,K]

	// table[n] is the n-th valid row: the row at the valid position that n valid ones precede.
	n := Iota(g, shapes.Make(dtype, b, b), 0)
	hits := Mul(ConvertDType(Equal(n, ExpandLeftToRank(Sub(until, valid), 2)), dtype), ExpandLeftToRank(valid, 2))
	table := ConvertDType(ReduceSum(Mul(hits, ExpandLeftToRank(ConvertDType(order, dtype), 2)), -1), dtypes.Int32)
	return Reshape(Gather(table, InsertAxes(nth, -1)), b, k), counted
}
