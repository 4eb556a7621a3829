// SPDX-License-Identifier: Apache-2.0

// Package theory runs the paper's mathematical claims as experiments, in plain Go and float64.
// Every result is a struct of slices, ready to be plotted, or a [Report].
//
// # Theorem 1: r^i against the bonus of LSVI-UCB
//
// The claim, with x = η(s,a)ᵀΛ⁻¹η(s,a): ρ·r^ucb ≤ r^i ≤ √2·ρ·r^ucb "for any ρ > 0". [LSVI] plays small linear MDPs.
// Found:
//
//   - The upper half always holds. The lower half holds for x ≤ x* = 2.512862 ([Root]), where log(1+x) ≥ x/2 ends.
//     x never exceeds ‖η‖²/λ, so the theorem needs λ ≥ ‖η‖²/x*, which the paper does not state.
//   - With a smaller λ, violations happen at first visits. [Theorem1Table] counts 55 for unit features with λ = 0.2
//     and 0.1, and none for λ ≥ 0.5.
//   - ρ is not free: it is √(c/4)/ζ, and ζ is a setting of the other algorithm.
//   - r^i in place of r^ucb finds the optimum that ζ = 0.5 misses: it has no ζ to set too low.
//   - The theorem is about the information gain, the mean over s' of the Bayesian surprise that defines r^i. The
//     realised surprise leaves the theorem's band in 76 to 84 % of draws for c = 1, 42 to 61 % for c = 6.
//
// # Cantelli and the multiplier β
//
// [Ambiguity] holds γ1 and γ2; [Ambiguity.Multiplier] is β. Closed form and brute force agree on the worst case, which
// is 1 − ε at b = β. But the appendix quotes Cantelli with P(X − EX ≥ −λ), which is false ([SampleTails]); the
// derivation uses the correct P(X − EX ≤ −λ). It also writes b = 1 − Ψ(f) for 1 − μ_Ψ(f), Σ_h for Σ_Ψ and l_n for β.
// The bound is conservative: at ε = 0.1 a Gaussian Ψ is covered to 99.94 %, and 1.28 in place of β = 3.22 suffices.
//
// # InfoNCE
//
// [Pair] has a known mutual information I. A small critic is trained on it and six readings of the paper's two bounds
// are evaluated ([Bounds]). Found, with the paper's scores in [0,1]:
//
//   - The main text's "lower bound" is a loss: it falls as I grows, and exceeds I for every I ≤ 2 at N = 16.
//   - The appendix' I^c + log N stays below I for these Gaussian pairs with independent negatives. It is no lower bound in
//     general, because its sum leaves out the positive: two coins that are equal with probability 3/4 share 0.1308 nats,
//     and the estimate is 0.1899 at N = 2. With an unbounded critic it fails for Gaussian pairs too (2.50 at I = 2).
//   - Proven for every critic is log(N+1) + E log softmax with the positive in the sum. Scores in [0,1] keep it below
//     [BoundedLimit].
//   - The appendix' upper bound is 2·log N up to one nat, the main text's log N up to one: both fail once I is larger.
//   - With f plus noise as negatives (the main text) even the sound estimate is positive for independent z and f.
package theory
