// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// code draws the mean and log σ of a code of d dimensions.
func code(r *rng.Rand, d int) (mean, logScale []float64) {
	for range d {
		mean = append(mean, 0.8*float64(r.Norm()))
		logScale = append(logScale, float64(r.Uniform(-1.5, 0.5)))
	}
	return mean, logScale
}

// PsiMoments is psiMoments of one code in float64.
func PsiMoments(mean, logScale []float64) (mu, variance float64) {
	for d, m := range mean {
		v := math.Exp(2 * logScale[d])
		mu += 0.5 * (m*m + v - 1 - 2*logScale[d])
		variance += 0.5*(v-1)*(v-1) + m*m*v
	}
	return mu, variance
}

func TestPsiMomentsAgreeWithSampling(t *testing.T) {
	r := rng.New(1, "psi test")
	for _, d := range []int{2, 8, 64} {
		mean, logScale := code(r, d)
		mu, variance := PsiMoments(mean, logScale)
		var psi rl.Running
		var fourth float64
		const draws = 100_000
		for range draws {
			value := 0.0
			for k, m := range mean {
				e := float64(r.Norm())
				x := m + math.Exp(logScale[k])*e
				value += -logScale[k] - e*e/2 + x*x/2 // the constants of p and q cancel
			}
			psi.Add(value)
			fourth += math.Pow(value-mu, 4)
		}
		// Five standard errors of the sample mean and of the sample variance.
		if off, se := psi.Mean-mu, math.Sqrt(variance/draws); math.Abs(off) > 5*se {
			t.Errorf("d = %d: sampled mean is %g off %g, standard error %g", d, off, mu, se)
		}
		if off, se := psi.M2/draws-variance, math.Sqrt((fourth/draws-variance*variance)/draws); math.Abs(off) > 5*se {
			t.Errorf("d = %d: sampled variance is %g off %g, standard error %g", d, off, variance, se)
		}
	}
}

// The graph's moments equal PsiMoments, which sampling confirms.
func TestPsiMomentsOfTheGraphAreTheClosedForm(t *testing.T) {
	const rows, width = 3, 4
	r := rng.New(3, "psi test")
	var means, scales [][]float64
	for range rows {
		mean, scale := code(r, width)
		means, scales = append(means, mean), append(scales, scale)
	}
	out := evaluate(t, nn.NewStore(1), func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		mu, variance := psiMoments(in[0], in[1])
		return []*graph.Node{mu, variance}
	}, means, scales)
	for row := range rows {
		wantMu, wantVariance := PsiMoments(means[row], scales[row])
		const near = 1e-13 // sums of a few numbers around 1 in another order
		if math.Abs(out[0][row]-wantMu) > near || math.Abs(out[1][row]-wantVariance) > near {
			t.Errorf("row %d has μ_Ψ = %g and Σ_Ψ = %g, want %g, %g", row, out[0][row], out[1][row], wantMu, wantVariance)
		}
	}
}
