// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"cermic/envs/rng"
)

// Five standard errors each. That of a sample variance is Σ·√((kurtosis−1)/n); a squared normal variable has kurtosis 15,
// and a sum of independent ones less.
func TestMomentsOfPsiAgreeWithSampling(t *testing.T) {
	const draws = 40_000
	for _, d := range []int{2, 16, 64} {
		r := rng.New(9, "test/psi", uint64(d))
		mean, logStd, noise := make([]float64, d), make([]float64, d), make([]float64, d)
		for i := range d {
			mean[i], logStd[i] = float64(r.Norm()), 0.4*float64(r.Norm())-0.5
		}
		sum, squares := 0.0, 0.0
		for range draws {
			for i := range d {
				noise[i] = float64(r.Norm())
			}
			v := PsiSample(mean, logStd, noise)
			sum, squares = sum+v, squares+v*v
		}
		mu, variance := PsiMoments(mean, logStd)
		m := sum / draws
		near(t, "mean of Ψ", m, mu, 5*math.Sqrt(variance/draws))
		near(t, "variance of Ψ", squares/draws-m*m, variance, 5*variance*math.Sqrt(14.0/draws))
	}
}

func TestPsiSampleIsTheLogDensityRatio(t *testing.T) {
	mean, logStd, noise := []float64{0.4, -1}, []float64{0.3, -0.7}, []float64{1.2, -0.5}
	want := 0.0
	for d := range mean {
		code := distuv.Normal{Mu: mean[d], Sigma: math.Exp(logStd[d])}
		x := code.Mu + code.Sigma*noise[d]
		want += code.LogProb(x) - distuv.UnitNormal.LogProb(x)
	}
	near(t, "Ψ", PsiSample(mean, logStd, noise), want, 1e-14)
}

// Published with two decimals for β at γ1 = 0.05, γ2 = 1.05.
func TestFeasibleBandsAreThePublishedOnes(t *testing.T) {
	for _, c := range []struct {
		dim                    int
		epsilon, upper, lo, hi float64
	}{
		{32, 0.2, 1, 0.31, 0.58}, {64, 0.1, 1, 0.32, 0.57}, {64, 0.2, 1, 0.15, 0.68},
		{64, 0.2, 0.5, 0.15, 0.29}, {128, 0.1, 1, 0.16, 0.67}, {128, 0.1, 0.5, 0.16, 0.28},
	} {
		beta := DefaultAmbiguity().Multiplier(c.epsilon)
		low, high, err := FeasibleBand(c.dim, beta, 0, c.upper)
		if err != nil {
			t.Error(err)
		}
		near(t, "low edge", low, c.lo, 0.0051)
		near(t, "high edge", high, c.hi, 0.0051)
		for _, edge := range []struct{ m, sign, level float64 }{{low, -1, 0}, {high, 1, c.upper}} {
			near(t, "constraint at the edge", edge.m+edge.sign*beta*math.Sqrt(2*edge.m/float64(c.dim)), edge.level, 1e-14)
		}
	}
}

func TestEmptyBandsAreErrorsThatSayWhatToDo(t *testing.T) {
	beta := DefaultAmbiguity().Multiplier(0.1)
	for _, c := range []struct {
		dim   int
		upper float64
	}{{32, 1}, {32, 0.5}, {64, 0.5}} {
		if _, _, err := FeasibleBand(c.dim, beta, 0, c.upper); err == nil || !strings.Contains(err.Error(), "widen the levels") {
			t.Errorf("d = %d, upper level %g: error is %v, want advice", c.dim, c.upper, err)
		}
	}
	if _, _, err := FeasibleBand(64, beta, -1, 1); err == nil {
		t.Error("a negative lower level was accepted")
	}
}
