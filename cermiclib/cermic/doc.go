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
// # What an iteration reports
//
// From Reward, over all agent steps of the rollout batch:
//
//	cermic/int_mean, int_std            r^i
//	cermic/int_norm_mean, int_norm_std  r^i normalised and clipped, before int_coef
//	cermic/int_coef                     int_coef after annealing
//	cermic/probe_screen_s, _x           R² of a linear map from s_t, from x̄_t, to the numbers on the screen, on other environments; tasks with a screen
//	cermic/probe_own_s, _x              the same for what an agent sees of itself, such as its position
//	cermic/int_variation                standard deviation over |mean| of r^i before it is normalised; below 0.1 it is nearly a constant
//	cermic/int_rarity                   rank correlation of r^i with inverse visit counts, -1 to 1; only where the task counts visits
//
// From Update, means over its gradient steps:
//
//	cermic/steps                        gradient steps taken
//	cermic/loss, grad_norm              total loss; norm of its gradient before clipping
//	cermic/loss_upper, loss_lower       L_UB, L_LB
//	cermic/explore, explore_nce         L_explore, its contrastive term (both are maximised)
//	cermic/loss_nce                     loss of the critic
//	cermic/nce_share                    that loss over log(n_neg+1), its value at chance; 1: the critic is no better than chance
//	cermic/loss_memory                  loss of the memory's own, its detector's for example; only where it has one
//	cermic/detector_accuracy            share of pairs whose presence a detector that learns tells correctly
//	cermic/detector_gain                what it tells more of than one that always says the same; below 0 it is of no use
//	cermic/kl, psi_std                  μ_Ψ and √Σ_Ψ per dimension of x
//	cermic/upper_active, lower_active   share of agent steps on which each ReLU is positive; useful between 0.05 and 0.6
//	cermic/band                         share on which both are zero
//	cermic/gamma_lo, gamma_hi           γ as L_UB and L_LB use it
//	cermic/gamma_share                  γ_lo over the most that it can be with n_neg negatives: the scale on which runs compare (D28)
//	cermic/calib_mean, calib_std        mean and spread over agent steps of the correction of h for L_UB, in units of √Σ_Ψ
//	cermic/enc_std                      spread of s_t over the minibatch, mean over components; below 0.1 it has collapsed
//	cermic/context_std                  the same of f_n; below 0.05 it has collapsed
//	cermic/context_before               share of agent steps that have an f_{n-1}; 0 where a graph memory detects nobody
//	cermic/context_labels               that share if the graph memory detected every visible peer; only with peer_channels
//	cermic/decoder_std                  σ_ψ
//	cermic/decoder_rmse                 root of the decoder's mean squared error, over agent steps and components of s_{t+1}
//	cermic/warn_*                       1 where a scalar of this name left the range in health.go
package cermic
