// SPDX-License-Identifier: Apache-2.0

// Package theory runs the paper's mathematical claims as experiments, in plain Go and float64.
// Every result is a struct of slices, ready to be plotted, or a [Report].
//
// # Theorem 1: r^i against the bonus of LSVI-UCB
//
// The claim, with x = η(s,a)ᵀΛ⁻¹η(s,a): ρ·r^ucb ≤ r^i ≤ √2·ρ·r^ucb "for any ρ > 0". [LSVI] plays two small linear MDPs,
// [Chain] (one-hot features) and [Simplex], and a [Trace] keeps x and both rewards of every visit and the exact regret of
// every episode. Found:
//
//   - The upper half holds always; the lower half only for x ≤ x* = 2.512862 ([Root]), since log(1+x) ≥ x/2 ends there.
//     x never exceeds ‖η‖²/λ, so the theorem needs λ ≥ ‖η‖²/x* ([SafeLambda]), which the paper does not state.
//   - With a smaller λ violations happen exactly at first visits (one-hot features; with others, at some of them): once
//     a pair has been visited x < 1. [Theorem1Table] shows 55 violations for unit features with λ = 0.2 and 0.1, none for
//     λ ≥ 0.5.
//   - ρ is not free: it is √(c/4)/ζ ([Rho]). What is free is ζ, a setting of the other algorithm.
//   - Both bonuses decay, and r^i in place of r^ucb finds the optimum that ζ = 0.5 misses: it has no ζ to set too low.
//   - The theorem is about the information gain, the mean over s' of the Bayesian surprise that defines r^i. The surprise
//     of the s' that did happen ([RealisedSurprise]) leaves the theorem's band in 76 to 84 % of draws for c = 1, 42 to
//     61 % for c = 6 ([OutsideBand], exact).
//
// In the table of Theorem 1, max_x, min_ratio and bonus_1 of one-hot rows and the absence of violations above SafeLambda follow from λ
// and ‖η‖ alone. Later bonuses, all regrets but that of ζ → 0 and everything on the simplex depend on the seed. So may
// the number of violations, which counts the pairs ever met, though 20 seeds gave the same 55.
//
// # Cantelli and the multiplier β
//
// [Ambiguity] holds γ1 and γ2; [Ambiguity.Multiplier] is β, [Ambiguity.WorstCase] the worst-case probability in closed
// form and [Ambiguity.Search] the same by brute force. Found: both agree, and the worst case at b = β is 1 − ε. But the
// appendix quotes Cantelli with P(X − EX ≥ −λ), which is false ([SampleTails]); the derivation uses the correct
// P(X − EX ≤ −λ) ([CantelliTail]). It also writes b = 1 − Ψ(f) for 1 − μ_Ψ(f), Σ_h for Σ_Ψ and l_n for β. The bound is very
// careful: at ε = 0.1 a Gaussian Ψ is covered to 99.94 %, and 1.28 in place of β = 3.22 would do.
//
// # InfoNCE
//
// [Pair] has a known mutual information I; a small critic is trained on it and six readings of the paper's two
// bounds are evaluated ([Bounds]). Found, with the paper's scores in [0,1]:
//
//   - The main text's "lower bound" is a loss: it falls as I grows, and exceeds I for every I ≤ 2 at N = 16.
//   - The appendix' I^c + log N stays below I for these Gaussian pairs, with independent negatives, and never exceeds one nat. It is no
//     lower bound in general, because its sum leaves out the positive ([Coins]): for z and f that are fair coins, equal with probability 3/4,
//     and a critic that is 1 where they are equal and 0 elsewhere, I = 0.1308 and the estimate is 0.1899, 0.1438 and 0.1367 at
//     N = 2, 8 and 16. For an unbounded critic it fails for Gaussian pairs too (2.50 at I = 2).
//   - Proven for every critic is log(N+1) + E log softmax with the positive in the sum, which scores in [0,1] keep below
//     [BoundedLimit].
//   - The appendix' upper bound is 2·log N up to one nat ([AppendixUpperRange]), the main text's log N up to one: neither
//     measures anything, and both fail once I is larger.
//   - With noise added to f as negatives (the main text) even the sound estimate is positive when z and f are independent.
package theory
