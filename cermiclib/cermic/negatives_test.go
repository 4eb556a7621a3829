// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// drawnRows returns the filtered negatives of a minibatch and the weights of its rows.
func drawnRows(t *testing.T, k int, x *rl.Rollout, rows []int32, weight []float64, r *rng.Rand) (
	negatives [][]int, counted []float64,
) {
	t.Helper()
	drawn := make([]int32, len(rows)*(k+drawColumns))
	filteredDraws(drawn, k, x, rows, r)
	out := evaluate(t, nn.NewStore(1), func(_ *model.Scope, in []*Node) []*Node {
		negatives, counted := filteredRows(in[0], in[1])
		return []*Node{ConvertDType(negatives, in[1].DType()), counted}
	}, tensors.FromFlatDataAndDimensions(drawn, len(rows), k+drawColumns), weight)
	for b := range rows {
		var own []int
		for _, v := range out[0][b*k : (b+1)*k] {
			own = append(own, int(v))
		}
		negatives = append(negatives, own)
	}
	return negatives, out[1]
}

func TestFilteredNegativesAreDrawnEvenlyFromThePositivesOfOtherEnvs(t *testing.T) {
	const k = 4000
	x := fakeRollout(fakeSpec(3), 4, 0) // rows 0-8 are the first step of three agents in three environments
	rows := []int32{0, 3, 9, 6, 12, 1, 21, 5, 26, 2}
	weight := []float64{1, 1, 0, 1, 0, 1, 1, 0, 1, 1} // 0: no f_{n-1}
	copyOf := func(b int) int32 { return rows[b] / 3 % 3 }
	negatives, counted := drawnRows(t, k, x, rows, weight, rng.New(1, "negatives"))
	for b := range rows {
		if counted[b] != weight[b] {
			t.Errorf("row %d has weight %g, want %g", b, counted[b], weight[b])
		}
		times, candidates := make([]int, len(rows)), 0
		for _, n := range negatives[b] {
			times[n]++
		}
		for n := range rows {
			if weight[n] != 0 && copyOf(n) != copyOf(b) {
				candidates++
			}
		}
		for n, got := range times {
			want := 0.0
			if weight[n] != 0 && copyOf(n) != copyOf(b) {
				want = k / float64(candidates)
			}
			if weight[b] != 0 && math.Abs(float64(got)-want) > 5*math.Sqrt(want) { // five standard deviations, at most
				t.Errorf("row %d has the negative %d in %d of %d draws, want %g", b, n, got, k, want)
			}
		}
	}
}

func TestWithOneEnvARowIsNeverItsOwnNegative(t *testing.T) {
	x := fakeRollout(fakeSpec(1), 10, 0)
	rows := []int32{4, 20, 7, 9, 11}
	weight := []float64{1, 1, 0, 1, 1}
	negatives, counted := drawnRows(t, 500, x, rows, weight, rng.New(2, "negatives"))
	for b, own := range negatives {
		for _, n := range own {
			if weight[b] != 0 && (n == b || weight[n] == 0) {
				t.Fatalf("row %d has the negative %d", b, n)
			}
		}
		if counted[b] != weight[b] {
			t.Errorf("row %d has weight %g, want %g", b, counted[b], weight[b])
		}
	}
	// A row without any negative has weight 0.
	if _, counted := drawnRows(t, 5, x, rows, []float64{0, 0, 1, 0, 0}, rng.New(3, "negatives")); counted[2] != 0 {
		t.Error("the only row of a minibatch has a positive weight")
	}
}

// gammaWithoutInformation trains the critic on features that are independent of f_{n-1}. Only a share of the rows has
// an f_{n-1}; the others have the features of an empty graph. It returns γ_lo over 50 new minibatches.
func gammaWithoutInformation(t *testing.T, filter bool, share float64) float64 {
	t.Helper()
	const b, width, steps = 256, 8, 400
	c := Default()
	c.Negatives, c.NegFilter, c.LR, c.ConsistencyDecay = 8, filter, 1e-2, 0
	spec := fakeSpec(16)
	x := rl.NewRollout(spec, 60, 0)
	columns := c.Negatives
	if filter {
		columns += drawColumns
	}
	p, _ := critic(c, b, width, columns)
	r, s, gamma := rng.New(1, "no information"), sampler{chunk: 1}, 0.0
	for step := range steps {
		graphtest.Fill(x.Alive, 1)
		rows, _ := s.draw(x, b, r)
		rows = rows[:b]
		exists, all := make([]float32, b), slices.Repeat([]float32{1}, b)
		copy(exists, all[:int(math.Ceil(share*b))])
		p.Feed(0, func(dst []float32) {
			for i := range dst {
				switch seen := exists[i/width] != 0; {
				case i%width > 0 && seen:
					dst[i] = r.Norm()
				case i%width > 0:
					dst[i] = 1
				case seen:
					dst[i] = 4
				default:
					dst[i] = -4
				}
			}
		})
		p.Feed(1, func(dst []float32) { normal(dst, r) })
		p.Feed(2, func(dst []float32) { copy(dst, exists) })
		p.FeedInt(3, func(dst []int32) {
			if filter {
				filteredDraws(dst, c.Negatives, x, rows, r)
			} else {
				marginalRows(dst, c.Negatives, x, rows, all, r)
			}
		})
		must.Do(t, p.Run())
		if step >= steps-50 {
			gamma += p.Scalar(1) / 50
		}
	}
	return gamma
}

// Without mutual information γ_lo is 0, however few agent steps have an f_{n-1}. With negatives from all rows it
// measures their share instead: 0.67, 0.52 and 0.36 at 4, 20 and 40 % (specification, D24).
func TestGammaIsZeroWithoutInformation(t *testing.T) {
	if testing.Short() {
		t.Skip("trains six critics")
	}
	for _, c := range []struct{ share, unfiltered float64 }{{0.04, 0.668}, {0.2, 0.523}, {0.4, 0.363}} {
		// With ten rows per minibatch, sampling noise of the critic above 0 enters γ_lo.
		if got := gammaWithoutInformation(t, true, c.share); got > 0.06 {
			t.Errorf("with an f_{n-1} in %g %% of the rows γ_lo is %g, want 0", 100*c.share, got)
		}
		got := gammaWithoutInformation(t, false, c.share)
		t.Logf("%g %% of the rows: %.3f unfiltered", 100*c.share, got)
		if math.Abs(got-c.unfiltered) > 0.12 {
			t.Errorf("with an f_{n-1} in %g %% of the rows and unfiltered negatives γ_lo is %g, want about %g",
				100*c.share, got, c.unfiltered)
		}
	}
}
