// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs/rng"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
)

// evaluate runs a float64 graph over a store once and returns its outputs, flat.
func evaluate(t *testing.T, store *model.Store, fn func(sc *model.Scope, in []*Node) []*Node, args ...any) [][]float64 {
	t.Helper()
	exec, err := model.NewExec(pureGo(t).Backend, store, fn)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]float64, len(out))
	for i, x := range out {
		tensors.MustConstFlatData(x, func(flat []float64) { values[i] = append(values[i], flat...) })
	}
	return values
}

// table fills a [rows,width] tensor with normal numbers.
func table(r *rng.Rand, rows, width int) *tensors.Tensor {
	flat := make([]float64, rows*width)
	for i := range flat {
		flat[i] = float64(r.Norm())
	}
	return tensors.FromFlatDataAndDimensions(flat, rows, width)
}

func TestNoiseInScoreSpaceIsNoiseInFeatureSpace(t *testing.T) {
	const rows, width, draws = 4, 6, 20_000
	r := rng.New(1, "negatives")
	query, now := table(r, rows, width), table(r, rows, width)
	weight := tensors.FromFlatDataAndDimensions([]float64{1, 1, 1, 0}, rows)
	c := Default()
	c.NegScale = 1.7
	out := evaluate(t, nn.NewStore(1), func(_ *model.Scope, in []*Node) []*Node {
		return []*Node{c.negativeScores(in[0], in[1], in[2], in[3])}
	}, query, now, table(r, rows, draws), weight)[0]

	flat := func(x *tensors.Tensor) (values []float64) {
		tensors.MustConstFlatData(x, func(src []float64) { values = append(values, src...) })
		return values
	}
	q, f := flat(query), flat(now)
	for b := range rows {
		// The definition: score f_n + κ·s⊙ε with all components of ε drawn, s over the three rows that count.
		var direct, short running
		for k := range draws {
			score := 0.0
			for d := range width {
				var s running
				for other := range 3 {
					s.add(f[other*width+d])
				}
				score += q[b*width+d] * (f[b*width+d] + 1.7*s.std()*float64(r.Norm()))
			}
			direct.add(score)
			short.add(out[b*draws+k])
		}
		// Five standard errors of the difference of two sample means, and of two sample spreads.
		se := math.Sqrt((direct.M2 + short.M2) / draws / draws)
		if math.Abs(direct.Mean-short.Mean) > 5*se || math.Abs(direct.std()-short.std()) > 5*se/math.Sqrt2 {
			t.Errorf("row %d: scores have mean %g and spread %g, drawn in feature space %g and %g", b, short.Mean, short.std(), direct.Mean, direct.std())
		}
	}
}

func TestBoundsFollowTheirDefinitions(t *testing.T) {
	pos, neg, weight := []float64{0.9, 0.2, 0.7}, [][]float64{{0.1, 0.3}, {0.4, 0.2}, {0.5, 0.6}}, []float64{1, 1, 0}
	const k = 2
	var hit, appendixLo, appendixHi, printedHi, gap float64
	for b := range 2 { // the third row does not count
		sum, flipped := 0.0, 0.0
		for _, n := range neg[b] {
			sum += math.Exp(n)
			flipped += math.Exp(1 - n)
		}
		hit += (pos[b] - math.Log(math.Exp(pos[b])+sum)) / 2
		appendixLo += (pos[b]-math.Log(sum))/2 + math.Log(k)/2
		appendixHi += math.Log(k)/2 - (1-pos[b]-math.Log(flipped))/2
		printedHi -= (1 - pos[b] - math.Log(math.Exp(1-pos[b])+flipped)) / 2
		gap += (pos[b] - (neg[b][0]+neg[b][1])/k) / 2
	}
	lo := max(0, hit+math.Log(k+1))
	for name, want := range map[string][2]float64{
		BoundsSound:    {lo, max(lo, gap)},
		BoundsAppendix: {appendixLo, appendixHi},
		BoundsPrinted:  {-hit, printedHi},
	} {
		c := Default()
		c.MIBounds = name
		out := evaluate(t, nn.NewStore(1), func(_ *model.Scope, in []*Node) []*Node {
			all := Log(Add(Exp(in[0]), ReduceSum(Exp(in[1]), -1)))
			lo, hi := c.bounds(in[0], in[1], average(Sub(in[0], all), in[2]), in[2])
			return []*Node{lo, hi}
		}, pos, neg, weight)
		if math.Abs(out[0][0]-want[0]) > 1e-14 || math.Abs(out[1][0]-want[1]) > 1e-14 {
			t.Errorf("%s: γ is %g to %g, want %g to %g", name, out[0][0], out[1][0], want[0], want[1])
		}
	}
}

func TestSoundBoundsAreOrderedAndInRange(t *testing.T) {
	c := Default()
	r := rng.New(2, "bounds")
	for range 50 {
		pos, neg := table(r, 8, 1), table(r, 8, 4)
		scale := float64(r.Uniform(0, 5))
		out := evaluate(t, nn.NewStore(1), func(_ *model.Scope, in []*Node) []*Node {
			p, n := c.squash(Squeeze(MulScalar(in[0], scale), -1), MulScalar(in[1], scale))
			all := Log(Add(Exp(p), ReduceSum(Exp(n), -1)))
			w := OnesLike(p)
			lo, hi := c.bounds(p, n, average(Sub(p, all), w), w)
			return []*Node{lo, hi}
		}, pos, neg)
		if lo, hi := out[0][0], out[1][0]; !(0 <= lo && lo <= hi && hi <= 1) {
			t.Errorf("γ_lo = %g, γ_hi = %g, want 0 ≤ γ_lo ≤ γ_hi ≤ 1", lo, hi)
		}
	}
}

// The negatives must not pull on f_n: they are built from a copy through which no gradient passes.
func TestNegativesDoNotTrainTheMemory(t *testing.T) {
	for _, kind := range []string{NegativesNoise, NegativesMarginal} {
		c := Default()
		c.NegKind = kind
		r := rng.New(3, "negatives gradient")
		now, before, reward, noise := table(r, 5, 4), table(r, 5, 4), table(r, 5, 1), any(table(r, 5, 3))
		if kind == NegativesMarginal {
			noise = [][]int32{{1, 2, 3}, {2, 3, 4}, {3, 4, 0}, {4, 0, 1}, {0, 1, 2}}
		}
		store := nn.NewStore(2)
		gradients := func(sc *model.Scope, in []*Node) []*Node {
			reward, exists := Squeeze(in[2], -1), OnesLike(Squeeze(in[2], -1))
			whole := c.consistencyOf(sc, memory.Context{Now: in[0], Before: in[1], Exists: exists}, reward, in[3], exists).loss
			// The same loss with the f_n of the negatives as an input of its own.
			query := DivScalar(Dot(Concatenate([]*Node{in[2], in[1], OnesLike(in[2])}, -1), nn.Weight(sc.At("critic"), in[0], "weights", nn.AllZero, 6, 4)).Product(), 2)
			pos, neg := c.squash(ReduceSum(Mul(query, in[0]), -1), c.negativeScores(query, in[4], in[3], exists))
			apart := ReduceAllMean(Sub(Log(Add(Exp(pos), ReduceSum(Exp(neg), -1))), pos))
			return append([]*Node{whole, apart}, append(Gradient(whole, in[0], in[1]), Gradient(apart, in[0], in[1])...)...)
		}
		out := evaluate(t, store, gradients, now, before, reward, noise, now)
		if math.Abs(out[0][0]-out[1][0]) > 1e-15 {
			t.Fatalf("%s: the losses differ: %g and %g", kind, out[0][0], out[1][0])
		}
		for part, name := range []string{"f_n", "f_{n-1}"} {
			for i := range out[2+part] {
				if math.Abs(out[2+part][i]-out[4+part][i]) > 1e-15 {
					t.Errorf("%s: component %d of the gradient in %s is %g, want %g", kind, i, name, out[2+part][i], out[4+part][i])
				}
			}
		}
	}
}

func TestCalibrationIsTheMLPOfItsFormula(t *testing.T) {
	const rows, width = 5, 7
	r := rng.New(4, "calibration")
	context, m, q := table(r, rows, width), table(r, rows, 1), table(r, rows, 1)
	for _, form := range []string{CalibBounded, CalibAnchored, CalibResidual, CalibPlain} {
		for _, gamma := range []float64{0, 0.6} {
			c := Default()
			c.CalibForm, c.CalibKappa = form, 0.8
			out := evaluate(t, nn.NewStore(5), func(sc *model.Scope, in []*Node) []*Node {
				f, m, q := in[0], Squeeze(in[1], -1), Abs(Squeeze(in[2], -1))
				at := sc.At("calibration")
				nn.Weight(at, f, "out", nn.FanIn(calibHidden), calibHidden) // not zero, so that M has something to say
				nn.Weight(at, f, "offset", nn.Constant(0.3))
				h := c.calibration(sc, f, m, q)(Scalar(f.Graph(), f.DType(), gamma))
				// M as one MLP over the concatenated input.
				first := Concatenate([]*Node{nn.Weight(at, f, "context", nil, width, calibHidden), InsertAxes(nn.Weight(at, f, "mean", nil, calibHidden), 0)}, 0)
				mlp := func(f *Node) *Node {
					x := Dot(Concatenate([]*Node{f, in[1]}, -1), first).Product()
					x = nn.LeakyReLU(Add(x, ExpandLeftToRank(nn.Weight(at, f, "bias", nil, calibHidden), 2)))
					return Add(Dot(x, nn.Weight(at, f, "out", nil, calibHidden)).Product(), nn.Weight(at, f, "offset", nil))
				}
				full, still := mlp(MulScalar(f, gamma)), mlp(ZerosLike(f))
				want := map[string]*Node{
					CalibPlain:    full,
					CalibResidual: Add(m, full),
					CalibAnchored: Add(m, Sub(full, still)),
					CalibBounded:  Add(m, Mul(MulScalar(q, 0.8), Tanh(Sub(full, still)))),
				}[form]
				return []*Node{h, want, m, q}
			}, context, m, q)
			for b := range rows {
				h, want, m, q := out[0][b], out[1][b], out[2][b], out[3][b]
				if math.Abs(h-want) > 1e-13 { // sums of a few numbers in another order
					t.Errorf("%s, γ = %g: h is %g, want %g", form, gamma, h, want)
				}
				anchored := form == CalibBounded || form == CalibAnchored
				if gamma == 0 && anchored && h != m {
					t.Errorf("%s: γ = 0 changes the mean from %g to %g", form, m, h)
				}
				if form == CalibBounded && math.Abs(h-m) > 0.8*q {
					t.Errorf("bounded h is %g off, more than κ·√Σ_Ψ = %g", math.Abs(h-m), 0.8*q)
				}
			}
		}
	}
}
