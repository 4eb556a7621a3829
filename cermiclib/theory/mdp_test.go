// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"cermic/envs/envtest/must"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g ± %g", what, got, want, tolerance)
	}
}

// With one step to go only the rewards count: 0.01 on the left, 1 on the right. With two, going right from the left end
// gives 0.9·1 + 0.1·0.01.
func TestOptimalValueOfShortestChainIsTheHandComputedOne(t *testing.T) {
	near(t, "V* over one step", must.Value(Chain(2, 1, 1)).optimal(), 0.01, 0)
	near(t, "V* over two steps", must.Value(Chain(2, 2, 1)).optimal(), 0.901, 1e-15)
	near(t, "V* of the reference chain", must.Value(Chain(5, 6, 1)).optimal(), 1.575, 5e-4) // published with three decimals
}

func TestValueOfAlwaysLeftIsTheCentPerStep(t *testing.T) {
	m := must.Value(Chain(5, 6, 1))
	near(t, "value", m.value(make([]int, 6*5)), 0.06, 1e-15)
}

// In a linear MDP the rows of P and r lie in the span of the features, so regressing on them leaves nothing. The
// simplex MDP has 12 pairs and 5 dimensions, so that this is not true of any matrix.
func TestTransitionsAndRewardsAreLinearInTheFeatures(t *testing.T) {
	for _, m := range []*MDP{must.Value(Chain(6, 8, 2)), simplex(6, 2, 5, 8, 3)} {
		pairs := m.States * m.Actions
		eta := mat.NewDense(pairs, m.Dims, m.Feature)
		targets := mat.NewDense(pairs, m.States+1, nil)
		for pair := range pairs {
			targets.SetRow(pair, append(append([]float64{}, m.Next[pair*m.States:][:m.States]...), m.Reward[pair]))
			sum := 0.0
			for _, p := range m.Next[pair*m.States:][:m.States] {
				sum += p
			}
			near(t, "sum of P(·|s,a)", sum, 1, 1e-14)
		}
		var solution, residual mat.Dense
		must.Do(t, solution.Solve(eta, targets))
		residual.Mul(eta, &solution)
		residual.Sub(&residual, targets)
		near(t, "largest residual", mat.Norm(&residual, math.Inf(1)), 0, 1e-12)
	}
	if norm := simplex(6, 2, 5, 8, 3).maxNorm(); norm > 1 {
		t.Errorf("simplex feature of length %g, want at most 1", norm)
	}
}

func TestImpossibleMDPsAreRefused(t *testing.T) {
	if _, err := Chain(1, 8, 1); err == nil {
		t.Error("a chain of one state was accepted")
	}
	if _, err := Chain(6, 8, math.NaN()); err == nil {
		t.Error("features without a length were accepted")
	}
}

func square(v float64) float64 { return v * v }
