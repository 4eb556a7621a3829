// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math"
	"slices"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// ICES explores where an agent's own action makes a difference (Li et al. 2024). Two world models predict a code z of the change
// of state, G from all actions, L with one agent's hidden; how much the two disagree is that agent's individual contribution:
//
//	r_i = 1 − exp( − mean_d KL_d[ p_G(z|s,a) ‖ p_L(z|s,a_{−i}) ] )
//
// An exploration policy π^x(a|o_i, s) and its value V^x(o_i, s) learn from it; the learner's reward stays as it is, unless ices_step_penalty
// makes every step cost something:
//
//	L_π = −(r_i − V^x)·log π^x(a_i) − c_ent·H(π^x)        L_V = (r_i − V^x)²
//
// When collecting, an agent takes from π^x with probability int_ratio, which falls in a straight line. π^x may look at the state:
// it is no part of what is evaluated or executed. See worldModel for the models.
//
// Source: the description of the authors' code (LXXXXR/ICES), with a value learner. It trains on the learner's replay if there is
// one, else on the rollout batch; a policy gradient weighs actions by π/μ, at most 1/(1−int_ratio). Reconstructed: both world models
// take their step together, at a constant rate and with the usual β₁ = 0.9; π^x has no last action; the change of state is clipped.
type ICES struct {
	Ratio       float64 `json:"int_ratio" help:"initial share, 0 to 1, of actions from the exploration policy π^x; the authors: 0.1 to 0.2"`
	RatioEnd    float64 `json:"int_ratio_end" help:"final share, 0 to 1, of actions from π^x; the authors, for StarCraft: 0.05"`
	RatioFrames int     `json:"int_ratio_frames" range:"1..1000000000000" help:"frames over which that share falls linearly"`
	Entropy     float64 `json:"ices_ent" help:"c_ent, weight of the exploration policy's entropy; the authors: 0.001 to 0.5"`
	Steps       int     `json:"ices_steps" range:"1..1000000" help:"gradient steps after a rollout batch; the authors: as many as the learner"`
	Batch       int     `json:"ices_batch" range:"1..100000000" help:"frames per gradient step"`
	Embed       int     `json:"ices_embed" range:"1..8192" help:"length of an action's embedding; the authors: 4"`
	Latent      int     `json:"ices_latent" range:"1..8192" help:"length of the code z; the authors: 16"`
	Hidden      []int   `json:"ices_hidden" range:"1..8192" help:"widths of the world models' layers; the authors: 64, 64"`
	PolicyWidth []int   `json:"ices_policy_hidden" range:"1..8192" help:"widths of the layers of the exploration policy π^x and its value V^x"`
	DeltaClip   float64 `json:"ices_delta_clip" help:"bound of the standardised change of state, the world models' target"`
	Log2        bool    `json:"ices_log2" help:"the divergence uses log₂ of the ratio of standard deviations, as the authors' code does; else ln"`
	StepPenalty float64 `json:"ices_step_penalty,omitzero" help:"penalty subtracted from the learner's reward in every step; the authors, for StarCraft: 0.02"`
	ModelLR     float64 `json:"ices_model_lr" help:"step size of the world models' optimiser; the authors: 1e-4"`
	CodeClamp   float64 `json:"ices_code_clamp" help:"bound of each element of the codes' gradient; the authors: 0.1"`
	BaseClip    float64 `json:"ices_prediction_clip" help:"largest gradient norm of the first predictions, over both world models; the authors: 10 each"`
	nn.Adam             // of π^x and V^x; the authors': lr 5e-4 for football, 0.01 for StarCraft
}

var _ Config = ICES{}

func init() { Register(DefaultICES()) }

// DefaultICES has the authors' sizes and, for football, weights; its world models take the paper's 1800 gradient steps a rollout batch,
// as the value learner does. Its contributions are small, and so is the weight of π^x's entropy: at 0.01 it stays near uniform.
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
func (c ICES) Validate() error {
	for _, f := range []struct {
		name   string
		values []int
	}{
		{"int_ratio_frames", []int{c.RatioFrames}}, {"ices_steps", []int{c.Steps}}, {"ices_batch", []int{c.Batch}},
		{"ices_embed", []int{c.Embed}}, {"ices_latent", []int{c.Latent}}, {"ices_hidden", c.Hidden}, {"ices_policy_hidden", c.PolicyWidth},
	} {
		if i := slices.IndexFunc(f.values, func(v int) bool { return v < 1 }); i >= 0 {
			return fmt.Errorf("explore.%s is %d, want at least 1", f.name, f.values[i])
		}
	}
	switch {
	case !(c.Ratio >= 0 && c.Ratio < 1) || !(c.RatioEnd >= 0 && c.RatioEnd < 1):
		return fmt.Errorf("explore: int_ratio %g and int_ratio_end %g must be 0 or more, and less than 1", c.Ratio, c.RatioEnd)
	case !(c.Entropy >= 0) || math.IsInf(c.Entropy, 0):
		return fmt.Errorf("explore.ices_ent is %g, want 0 or more", c.Entropy)
	case !(c.StepPenalty >= 0) || math.IsInf(c.StepPenalty, 0):
		return fmt.Errorf("explore.ices_step_penalty is %g, want 0 or more: it is subtracted", c.StepPenalty)
	case !(c.DeltaClip > 0):
		return fmt.Errorf("explore.ices_delta_clip is %g, want more than 0", c.DeltaClip)
	}
	for _, a := range []nn.Adam{c.Adam, c.baseAdam(), c.codeAdam()} {
		if err := a.Validate(); err != nil {
			return fmt.Errorf("explore.%w (of ices' policy, its first predictions or its codes)", err)
		}
	}
	return nil
}

// baseAdam and codeAdam move the world models.
func (c ICES) baseAdam() nn.Adam { return nn.Adam{LR: c.ModelLR, Eps: c.Eps, Clip: c.BaseClip} }
func (c ICES) codeAdam() nn.Adam {
	return nn.Adam{LR: c.ModelLR, Eps: c.Eps, Clip: c.CodeClamp, Elementwise: true}
}
