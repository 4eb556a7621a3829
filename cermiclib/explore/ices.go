// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// ICES explores where an agent's own action makes a difference (Li et al. 2024). Two world models predict a code z of
// the change of state, G from all actions, L with one agent's hidden; how much the two disagree is that agent's
// individual contribution:
//
//	r_i = 1 − exp( − mean_d KL_d[ p_G(z|s,a) ‖ p_L(z|s,a_{−i}) ] )
//
// An exploration policy π^x(a|o_i, s) and its value V^x(o_i, s) learn from it; the learner's reward stays as it is:
//
//	L_π = −(r_i − V^x)·log π^x(a_i) − c_ent·H(π^x)        L_V = (r_i − V^x)²
//
// When collecting, an agent takes from π^x with probability int_ratio, which falls in a straight line. π^x may look
// at the state: it is no part of what is evaluated or executed. See worldModel for the models.
//
// Source: the description of the authors' code (LXXXXR/ICES), with a value learner. It trains on the learner's replay
// if there is one, else on the rollout batch; a policy gradient weighs actions by π/μ, at most 1/(1−int_ratio).
// Reconstructed: both world models take their step together, at a constant rate and with the usual β₁ = 0.9; π^x has
// no last action; the change of state is clipped.
type ICES struct {
	Ratio       float64 `json:"int_ratio" range:"[0..1)" help:"initial share, of actions from the exploration policy π^x; the authors: 0.1 to 0.2"`
	RatioEnd    float64 `json:"int_ratio_end" range:"[0..1)" help:"final share, of actions from π^x; the authors, for StarCraft: 0.05"`
	RatioFrames int     `json:"int_ratio_frames" range:"1..1000000000000" help:"frames over which that share falls linearly"`
	Entropy     float64 `json:"ices_ent" range:"0.." help:"c_ent, weight of the exploration policy's entropy; the authors: 0.001 to 0.5"`
	Steps       int     `json:"ices_steps" range:"1..1000000" help:"gradient steps after a rollout batch; the authors: as many as the learner"`
	Batch       int     `json:"ices_batch" range:"1..100000000" help:"frames per gradient step"`
	Embed       int     `json:"ices_embed" range:"1..8192" help:"length of an action's embedding; the authors: 4"`
	Latent      int     `json:"ices_latent" range:"1..8192" help:"length of the code z; the authors: 16"`
	Hidden      []int   `json:"ices_hidden" range:"1..8192" help:"widths of the world models' layers; the authors: 64, 64"`
	PolicyWidth []int   `json:"ices_policy_hidden" range:"1..8192" help:"widths of the layers of the exploration policy π^x and its value V^x"`
	DeltaClip   float64 `json:"ices_delta_clip" range:"(0..)" help:"bound of the standardised change of state, the world models' target"`
	Log2        bool    `json:"ices_log2" help:"the divergence uses log₂ of the ratio of standard deviations, as the authors' code does; else ln"`
	ModelLR     float64 `json:"ices_model_lr" range:"(0..)" help:"step size of the world models' optimiser; the authors: 1e-4"`
	CodeClamp   float64 `json:"ices_code_clamp" range:"(0..)" help:"bound of each element of the codes' gradient; the authors: 0.1"`
	BaseClip    float64 `json:"ices_prediction_clip" range:"(0..)" help:"largest gradient norm of the first predictions, over both world models; the authors: 10 each"`
	nn.Adam             // of π^x and V^x; the authors': lr 5e-4 for football, 0.01 for StarCraft
}

func init() { Register(DefaultICES()) }

// DefaultICES has the authors' sizes and, for football, weights; its world models take the paper's 1800 gradient
// steps a rollout batch, as the value learner does. Its contributions are small, and so is the weight of π^x's
// entropy: at 0.01 it stays near uniform.
func DefaultICES() ICES {
	return ICES{
		Ratio: 0.2, RatioEnd: 0.05, RatioFrames: 3_000_000, Entropy: 0.002, Steps: 1800, Batch: 1024, Embed: 4, Latent: 16,
		Hidden: []int{64, 64}, PolicyWidth: []int{256, 256}, DeltaClip: 5, ModelLR: 1e-4, CodeClamp: 0.1, BaseClip: 10,
		Adam: nn.Adam{LR: 5e-4, Eps: 1e-6, Clip: 5},
	}
}

// Scheduled takes a step of the world models for each of the value learner's, and explores for all of the training.
func (c ICES) Scheduled(s rl.Schedule) Config {
	c.Steps, c.RatioFrames = s.Steps, s.Frames
	return c
}

// Kind is "ices".
func (ICES) Kind() string { return "ices" }

// Validate returns one sentence about the first impossible setting.
func (c ICES) Validate() error { return conf.Check(c) }

// baseAdam and codeAdam move the world models.
func (c ICES) baseAdam() nn.Adam { return nn.Adam{LR: c.ModelLR, Eps: c.Eps, Clip: c.BaseClip} }
func (c ICES) codeAdam() nn.Adam {
	return nn.Adam{LR: c.ModelLR, Eps: c.Eps, Clip: c.CodeClamp, Elementwise: true}
}
