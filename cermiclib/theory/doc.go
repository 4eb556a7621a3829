// SPDX-License-Identifier: Apache-2.0

// Package theory runs the paper's mathematical claims as experiments, in plain Go and float64. Every result is a struct
// of slices, ready to be plotted, or a [Report]. Notebook 10_theory shows them all.
//
// Theorem 1, with x = η(s,a)ᵀΛ⁻¹η(s,a), is ρ·r^ucb ≤ r^i ≤ √2·ρ·r^ucb "for any ρ > 0". [LSVI] plays small linear MDPs.
// The lower half holds only for x ≤ x* = 2.512862 ([Root]). x never exceeds ‖η‖²/λ, so the theorem needs λ ≥ ‖η‖²/x*,
// which the paper does not state. ρ is not free: it is √(c/4)/ζ. The theorem is about the information gain, the mean
// over s' of the Bayesian surprise that defines r^i. The realised surprise often leaves the band.
//
// Cantelli and the multiplier β: [Ambiguity.Multiplier] is β. Closed form and brute force agree on the worst case. The
// appendix quotes Cantelli with P(X − EX ≥ −λ), which is false ([SampleTails]); the derivation uses the correct form.
//
// InfoNCE: [Pair] has a known mutual information I, on which six readings of the paper's two bounds are evaluated
// ([Bounds]). With scores in [0,1], the main text's "lower bound" is a loss and falls as I grows. The appendix' bound
// leaves out the positive. Two coins that are equal with probability 3/4 share 0.1308 nats, and its estimate is 0.1899
// at N = 2. Proven for every critic is log(N+1) + E log softmax with the positive in the sum, which stays below
// [BoundedLimit]. Both upper bounds are nearly constant in N and fail once I is larger. With f plus noise as negatives,
// even the sound estimate is positive for independent z and f.
package theory
