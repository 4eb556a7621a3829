// SPDX-License-Identifier: Apache-2.0

// Package cermic implements the paper's module, Curiosity Enhancement via Robust Multi-Agent Intention Calibration. It
// learns a compressed code of an agent's observation and action. The code's information content is constrained to a
// band that the inferred intentions of other agents calibrate. The intrinsic reward is the square root of that content.
//
// # Reading order
//
// config.go has every setting and its reading. peers.go adds the channels of peers to the observation. predict.go maps
// observations to codes and back. exploit.go has the moments of Ψ, the robust constraint and its losses. consistency.go
// computes γ and h, negatives.go draws the negatives. loss.go puts the losses together. reward.go and form.go compute
// the intrinsic reward, by default the paper's √KL. elliptical.go and reservoir.go are our form, the bonus of
// Theorem 1. module.go and sampling.go train the module in an experiment. context.go provides context to actors.
// probe.go measures how much of the observation the code keeps.
//
// "Dk" in a comment numbers a place where the paper is silent, ambiguous or contradicts itself. The comment states our
// choice, the reason, and the field that switches it, if there is one.
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
//	β                beta                     multiplier of √Σ_Ψ, a function of these three
//	f_n, f_{n-1}     Context.Now, .Before     context features of the memory, length F (d_f)
//	γ                consistency              mutual information of [r^e_{t-1}, f_{n-1}] and f_n:
//	                                          γ_lo for L_UB, γ_hi for L_LB
//	c(z, f)          critic                   score of that pair
//	h                calibration              calibrated mean μ_Ψ(f_n|γ)
//	α                Alpha                    weight of L_explore
//	τ                Polyak                   rate at which θᵐ follows θ
//	r^e, r^i         Extrinsic, Intrinsic     reward of the task, reward of this module
//	η, Λ             Elliptical               features of an agent step; λI plus the sum of their outer products
//	B, K                                      agent steps of a minibatch, negatives of each
//
// The paper also writes γ for the discount, which is called Discount here.
//
// reproduce/docs/cermic.md explains every scalar that an iteration reports, DECISIONS.md every reading "Dk".
package cermic
