// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs/envtest/must"
)

// The running mean of the squared error is unbiased from the first step, has a floor, and determines σ_ψ.
func TestOptimalSpreadIsTheRunningMeanOfTheSquaredError(t *testing.T) {
	c, store := Default(), nn.NewStore(1)
	sigma := func(square float64, follow bool) float64 {
		return evaluate(t, store, func(sc *model.Scope, in []*Node) []*Node {
			if follow {
				c.followError(sc, in[0])
			}
			return []*Node{Exp(c.logSpread(sc, in[0])), Identity(in[0])}
		}, square)[0][0]
	}
	if got := sigma(0, false); got != 1 {
		t.Errorf("before the first step σ_ψ is %g, want 1", got)
	}
	sum, share := 0.0, 0.0
	for _, square := range []float64{0.09, 0.04, 0.25} {
		sum, share = 0.99*sum+0.01*square, 0.99*share+0.01
		if got, want := sigma(square, true), math.Sqrt(sum/share); math.Abs(got-want) > 1e-12 {
			t.Errorf("σ_ψ is %g, want %g", got, want)
		}
	}
	if got, want := sigma(7, false), math.Sqrt(sum/share); math.Abs(got-want) > 1e-12 {
		t.Errorf("reading σ_ψ changes it to %g", got)
	}
	store = nn.NewStore(1)
	if got, want := sigma(0, true), math.Sqrt(1e-3); math.Abs(got-want) > 1e-12 {
		t.Errorf("without any error σ_ψ is %g, want the floor %g", got, want)
	}
}

// The optimal σ_ψ is the decoder's error. A learned one moves by lr per step.
func TestSpreadReachesTheDecodersError(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few hundred gradient steps")
	}
	backend := must.Value(nn.Open())
	for spread, near := range map[string]bool{SpreadOptimal: true, SpreadLearned: false} {
		spec, c := fakeSpec(8), small()
		c.PsiSpread, c.Minibatch, c.Exploit, c.Contrast, c.Steps = spread, 64, false, 0, 15
		c.Hidden, c.LR = 64, 1e-3 // error and running mean converge within these steps
		m := must.Value(c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1}))
		var sigma, rmse, steps float64
		for it := range 30 {
			s := must.Value(m.Update(t.Context(), fakeRollout(spec, 40, it)))
			sigma, rmse, steps = s["cermic/decoder_std"], s["cermic/decoder_rmse"], steps+s["cermic/steps"]
		}
		if ratio := sigma / rmse; (math.Abs(ratio-1) < 0.1) != near {
			t.Errorf("%s: after %g steps σ_ψ is %g and the decoder's error %g", spread, steps, sigma, rmse)
		} else {
			t.Logf("%s: after %g steps σ_ψ is %.3f and the decoder's error %.3f", spread, steps, sigma, rmse)
		}
	}
}

// No gradient reaches the decoder through σ_ψ: with σ_ψ² equal to the error, it would cancel the likelihood's gradient.
func TestNoGradientPassesThroughTheSpread(t *testing.T) {
	c, store := Default(), nn.NewStore(1)
	out := evaluate(t, store, func(sc *model.Scope, in []*Node) []*Node {
		next, mean := ZerosLike(in[0]), in[0]
		c.followError(sc, ReduceAllMean(Square(Sub(next, mean))))
		l := ReduceAllMean(logLikelihood(next, mean, c.logSpread(sc, mean)))
		return Gradient(l, mean)
	}, [][]float64{{0.3, -0.4}})
	for i, x := range []float64{0.3, -0.4} {
		// -x/σ_ψ² over two components, σ_ψ² = (0.09+0.16)/2.
		if want := -x / 0.125 / 2; math.Abs(out[0][i]-want) > 1e-12 {
			t.Errorf("component %d has the gradient %g, want %g", i, out[0][i], want)
		}
	}
}
