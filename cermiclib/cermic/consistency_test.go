// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// evaluate runs a float64 graph over a store once and returns its outputs, flat.
func evaluate(t *testing.T, store *model.Store, fn func(sc *model.Scope, in []*Node) []*Node, args ...any) [][]float64 {
	t.Helper()
	exec := must.Value(model.NewExec(graphtest.Backend().Backend, store, fn))
	var values [][]float64
	for _, x := range must.Get(exec.Call(args...))(t) {
		values = append(values, flat(x))
	}
	return values
}

// flat returns the values of a tensor.
func flat(x *tensors.Tensor) []float64 { return must.Value(tensors.CopyFlatData[float64](x)) }

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
	c.NegKind = NegativesNoise
	out := evaluate(t, nn.NewStore(1), func(_ *model.Scope, in []*Node) []*Node {
		scores, _ := c.negativeScores(in[0], in[1], in[2], in[3])
		return []*Node{scores}
	}, query, now, table(r, rows, draws), weight)[0]

	q, f := flat(query), flat(now)
	for b := range rows {
		// The definition: score f_n + s⊙ε with all components of ε drawn, s over the three rows that count.
		var direct, short rl.Running
		for k := range draws {
			score := 0.0
			for d := range width {
				var s rl.Running
				for other := range 3 {
					s.Add(f[other*width+d])
				}
				score += q[b*width+d] * (f[b*width+d] + s.Std()*float64(r.Norm()))
			}
			direct.Add(score)
			short.Add(out[b*draws+k])
		}
		// Five standard errors of the difference of two sample means and of two sample standard deviations.
		se := math.Sqrt((direct.M2 + short.M2) / draws / draws)
		if math.Abs(direct.Mean-short.Mean) > 5*se || math.Abs(direct.Std()-short.Std()) > 5*se/math.Sqrt2 {
			t.Errorf("row %d: scores have mean %g and standard deviation %g, in feature space %g and %g",
				b, short.Mean, short.Std(), direct.Mean, direct.Std())
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
			lo, hi := c.bounds(in[0], in[1], nn.Average(Sub(in[0], all), in[2]), in[2])
			return []*Node{lo, hi}
		}, pos, neg, weight)
		if math.Abs(out[0][0]-want[0]) > 1e-14 || math.Abs(out[1][0]-want[1]) > 1e-14 {
			t.Errorf("%s: γ is %g to %g, want %g to %g", name, out[0][0], out[1][0], want[0], want[1])
		}
	}
}

func TestConsistencyDoesNotCollapseTheFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("takes hundreds of gradient steps")
	}
	const b, steps = 64, 200
	spec := fakeSpec(8)
	x := fakeRollout(spec, 60, 0)
	c := Default()
	c.NegKind, c.LR = NegativesNoise, 1e-3 // with marginal negatives the features cannot collapse
	build := graphtest.Build(spec, 1)
	mem := must.Value(memory.MLP{Embed: 8, Hidden: 16, Width: 16}.Build(build))
	inputs := []nn.Input{nn.F32("reward", b), nn.F32("noise", b, c.Negatives), nn.F32("weight", b)}
	inputs = append(inputs, mem.Inputs(b)...)
	p := must.Value(nn.NewProgram(build, "critic", inputs, func(sc *model.Scope, in []*Node) []*Node {
		sc = sc.At(scope)
		f := mem.Context(sc.At("memory"), in[3:])
		got := c.consistencyOf(sc, f, in[0], in[1], Mul(in[2], f.Exists))
		c.adam().Minimize(sc, got.loss)
		return []*Node{got.lo, spread(f.Now, in[2])}
	}))
	m := &module{cfg: c, seed: 1}
	s := sampler{chunk: 1}
	for step := range steps {
		rows, weight := s.draw(x, b, m.stream("rows", 0, step))
		rows = rows[:b]
		p.Feed(0, func(dst []float32) {
			for k, row := range rows {
				dst[k] = m.rewardBefore(x, int(row))
			}
		})
		p.Feed(1, func(dst []float32) { normal(dst, m.stream("noise", 0, step)) })
		p.Feed(2, func(dst []float32) { copy(dst, weight) })
		mem.Gather(p, 3, x, rows)
		must.Do(t, p.Run())
	}
	// If any term stops its gradient, the spread falls below 0.1 by now and γ stays at 0.
	if gamma, spread := p.Scalar(0), p.Scalar(1); gamma < 0.02 || spread < 0.3 {
		t.Errorf("after %d steps γ is %g and the spread of the features %g", steps, gamma, spread)
	}
}

func TestCalibrationIsTheMLPOfItsFormula(t *testing.T) {
	const rows, width = 5, 7
	r := rng.New(4, "calibration")
	context, m, q := table(r, rows, width), table(r, rows, 1), table(r, rows, 1)
	for _, form := range []string{CalibBounded, CalibPlain} {
		for _, gamma := range []float64{0, 0.6} {
			c := Default()
			c.CalibForm, c.CalibKappa, c.CalibCentre = form, 0.8, false
			out := evaluate(t, nn.NewStore(5), func(sc *model.Scope, in []*Node) []*Node {
				f, m, q := in[0], Squeeze(in[1], -1), Abs(Squeeze(in[2], -1))
				at := sc.At("calibration")
				nn.Weight(at, f, "out", nn.FanIn(calibHidden), calibHidden) // not zero, so that M has an effect
				nn.Weight(at, f, "offset", nn.Constant(0.3))
				h := c.calibration(sc, f, m, q, OnesLike(m))(Scalar(f.Graph(), f.DType(), gamma))
				// M as one MLP over the concatenated input.
				mean := InsertAxes(nn.Weight(at, f, "mean", nil, calibHidden), 0)
				first := Concatenate([]*Node{nn.Weight(at, f, "context", nil, width, calibHidden), mean}, 0)
				mlp := func(f *Node) *Node {
					x := Dot(Concatenate([]*Node{f, in[1]}, -1), first).Product()
					x = nn.LeakyReLU(Add(x, ExpandLeftToRank(nn.Weight(at, f, "bias", nil, calibHidden), 2)))
					return Add(Dot(x, nn.Weight(at, f, "out", nil, calibHidden)).Product(), nn.Weight(at, f, "offset", nil))
				}
				full, still := mlp(MulScalar(f, gamma)), mlp(ZerosLike(f))
				want := map[string]*Node{
					CalibPlain:   full,
					CalibBounded: Add(m, Mul(MulScalar(q, 0.8), Tanh(Sub(full, still)))),
				}[form]
				return []*Node{h, want, m, q}
			}, context, m, q)
			for b := range rows {
				h, want, m, q := out[0][b], out[1][b], out[2][b], out[3][b]
				if math.Abs(h-want) > 1e-13 { // sums of a few numbers in another order
					t.Errorf("%s, γ = %g: h is %g, want %g", form, gamma, h, want)
				}
				if gamma == 0 && form == CalibBounded && h != m {
					t.Errorf("γ = 0 changes the mean from %g to %g", m, h)
				}
				if form == CalibBounded && math.Abs(h-m) > 0.8*q {
					t.Errorf("bounded h is %g off, more than κ·√Σ_Ψ = %g", math.Abs(h-m), 0.8*q)
				}
			}
		}
	}
}

// critic takes gradient steps on its inputs: f_n, f_{n-1}, whether f_{n-1} exists, and the negatives [rows,columns]. Its
// outputs are the loss and γ_lo.
func critic(c Config, rows, width, columns int) (*nn.Program, *model.Store) {
	b := graphtest.Build(fakeSpec(16), 1)
	inputs := []nn.Input{
		nn.F32("now", rows, width), nn.F32("before", rows, width), nn.F32("exists", rows), nn.I32("negative", rows, columns),
	}
	p := must.Value(nn.NewProgram(b, "critic", inputs, func(sc *model.Scope, in []*Node) []*Node {
		f := memory.Context{Now: in[0], Before: in[1], Exists: in[2]}
		got := c.consistencyOf(sc.At(scope), f, ZerosLike(in[2]), in[3], f.Exists)
		c.adam().Minimize(sc.At(scope), got.loss)
		return []*Node{got.loss, got.lo}
	}))
	return p, b.Store
}

// criticLossAfterSaturation starts a critic in the flat part of the sigmoid and trains it on features close to f_{n-1}.
// It returns the loss over the last 20 of 400 gradient steps as a fraction of chance.
func criticLossAfterSaturation(t *testing.T, bound float64) float64 {
	t.Helper()
	const b, width, steps = 64, 8, 400
	c := Default()
	c.Negatives, c.NegFilter, c.LR, c.CriticBound = 8, false, 0.1, bound
	p, store := critic(c, b, width, c.Negatives)
	tensors.MustMutableFlatData(store.GetVariable("/cermic/critic/weights").MustValue(), func(w []float32) {
		for i := range width { // weights of the constant input; with features around 2, scores are about 2·30·√8 = 170
			w[(width+1)*width+i] = 30
		}
	})
	r, loss := rng.New(1, "saturation"), 0.0
	before, now := make([]float32, b*width), make([]float32, b*width)
	for step := range steps {
		for i := range now {
			before[i] = 2 + r.Norm()
			now[i] = before[i] + 0.1*r.Norm()
		}
		p.Feed(0, func(dst []float32) { copy(dst, now) })
		p.Feed(1, func(dst []float32) { copy(dst, before) })
		p.Feed(2, func(dst []float32) { graphtest.Fill(dst, 1) })
		p.FeedInt(3, func(dst []int32) {
			for i := range dst {
				dst[i] = int32((i/c.Negatives + 1 + r.IntN(b-1)) % b)
			}
		})
		must.Do(t, p.Run())
		if step >= steps-20 {
			loss += float64(p.Scalar(0)) / 20
		}
	}
	return loss / math.Log(float64(c.Negatives+1))
}

func TestSaturatedCriticRecoversOnlyWithABound(t *testing.T) {
	if got := criticLossAfterSaturation(t, Default().CriticBound); got > 0.9 {
		t.Errorf("with a bound the loss is still %.4f of chance, want less than .9", got)
	}
	if got := criticLossAfterSaturation(t, 0); got < 0.9999 {
		t.Errorf("without a bound the loss is %.4f of chance, so this start does not saturate the critic", got)
	}
}
