// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"fmt"
	"math"
)

// PsiMoments returns mean and variance of Ψ = log p(x) − log q(x) under p = N(mean, diag v), v = exp(2·logStd), with
// q = N(0, I); both slices are [d_x]. The mean is the KL divergence in nats. No sampling is needed, although the paper
// calls both "numerically computed": Ψ is a quadratic form in independent standard normals e_d.
//
// paper:Eq5  μ_Ψ = ½ Σ_d (μ_d² + v_d − 1 − log v_d)    Σ_Ψ = Σ_d [½(v_d − 1)² + μ_d²·v_d]
func PsiMoments(mean, logStd []float64) (mu, variance float64) {
	for d, m := range mean {
		v := math.Exp(2 * logStd[d])
		mu += (m*m + v - 1 - 2*logStd[d]) / 2
		variance += (v-1)*(v-1)/2 + m*m*v
	}
	return mu, variance
}

// PsiSample is Ψ at x = mean + std·noise; the slices are [d_x].
func PsiSample(mean, logStd, noise []float64) float64 {
	sum := 0.0
	for d, e := range noise {
		x := mean[d] + math.Exp(logStd[d])*e
		sum += (x*x-e*e)/2 - logStd[d]
	}
	return sum
}

// FeasibleBand returns the range of KL per dimension in which a code with unit spread satisfies both exploit
// constraints, with m = μ_Ψ/d_x, q = √Σ_Ψ/d_x = √(2m/d_x): m + β·q ≤ upper and m − β·q ≥ lower ≥ 0. An empty
// range is an error: no such code could reach zero loss.
func FeasibleBand(dim int, beta, lower, upper float64) (low, high float64, err error) {
	if lower < 0 {
		return 0, 0, fmt.Errorf("theory: lower level is %g, want at least 0 (the KL of a code is never below)", lower)
	}
	k := beta * math.Sqrt(2/float64(dim)) // both constraints are quadratic in √m
	low = square((k + math.Sqrt(k*k+4*lower)) / 2)
	high = square((math.Sqrt(k*k+4*max(upper, 0)) - k) / 2)
	if low > high {
		return low, high, fmt.Errorf("theory: no KL per dimension meets levels %g and %g with %d dimensions and β = %.3f: "+
			"it would have to be above %.3f and below %.3f; widen the levels, raise the dimension or ε",
			lower, upper, dim, beta, low, high)
	}
	return low, high, nil
}

func square(v float64) float64 { return v * v }
