// SPDX-License-Identifier: Apache-2.0

// Package cermic is the paper's module: Curiosity Enhancement via Robust Multi-Agent Intention Calibration. It learns a
// compressed code of what an agent sees and does, holds the code's information content inside a band that the inferred
// intentions of the other agents calibrate, and gives the square root of that content as an intrinsic reward.
//
// # Reading order
//
// config.go, every setting and its reading; peers.go, what the module observes of peers; encoder.go, predict.go and
// spread.go, from observations to codes and back; psi.go, moments of Ψ; beta.go and exploit.go, the robust constraint and
// its losses; consistency.go, negatives.go and calibration.go, γ and h; loss.go, all of it together; reward.go and
// score.go, the intrinsic reward; form.go, its formula, the paper's √KL; elliptical.go and reservoir.go, ours, of Theorem 1; probe.go, what the code keeps;
// module.go and state.go, how an experiment runs it; sampling.go, the minibatches of its cermic_steps gradient
// steps; actor.go, what an actor may read of it.
//
// "Dk" in a comment numbers a place where the paper is silent, ambiguous or in conflict with itself; the comment beside it says
// what was chosen, why, and which field switches it.
//
// # Glossary
//
//	paper            here                     meaning
//	s_t, s_{t+1}     Embed, d_s               embeddings θ(o_t) and θᵐ(o_{t+1})
//	x_t              Latent, d_x              sample of the code p_φ(x|s,a) = N(μ, diag σ²)
//	Ψ, μ_Ψ, Σ_Ψ      Psi, psiMoments          log p_φ(x|s,a) - log N(x; 0, I) for x ~ p_φ; its mean and variance
//	m, q                                      normalised μ_Ψ and √Σ_Ψ
//	c̄, c̲             Upper, Lower             levels that Ψ shall respect with probability 1-ε
//	ε, γ₁, γ₂        Chance, MeanRadius,      chance constraint and its ambiguity set
//	                 SpreadRadius
//	β                Beta                     what these three make of √Σ_Ψ
//	f_n, f_{n-1}     Context.Now, .Before     context features of the memory, length F (d_f)
//	γ                consistency              mutual information of [r^e_{t-1}, f_{n-1}] and f_n: γ_lo for L_UB, γ_hi for L_LB
//	c(z, f)          critic                   score of that pair
//	h                calibration              calibrated mean μ_Ψ(f_n|γ)
//	α                Alpha                    weight of L_explore
//	τ                Polyak                   rate at which θᵐ follows θ
//	r^e, r^i         Extrinsic, Intrinsic     reward of the task, reward of this module
//	η, Λ             Elliptical               features of an agent step; λI plus the sum of their outer products
//	B, K                                      agent steps of a minibatch, negatives of each
//
// The paper also writes γ for the discount: that is Discount wherever it appears.
//
// reproduce/docs/cermic.md explains every scalar that an iteration reports, DECISIONS.md every reading "Dk".
package cermic
