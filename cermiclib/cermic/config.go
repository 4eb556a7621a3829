// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"fmt"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Config holds every setting of the module. Default and Literal return complete ones; change fields of these.
//
// Where the paper leaves a choice open, a field selects the reading and its help names the default, or a comment at the
// formula states the only reading. DECISIONS.md lists them all.
type Config struct {
	Memory memory.Config `json:"memory" help:"memory that infers the peers' intention f_n^o; the paper: graph"`

	// Observations: peers.go
	PeerChannels bool `json:"peer_channels,omitzero" help:"the module also observes where visible peers are, if o_t lacks it"`

	// Acting: context.go
	ActorContext bool `json:"actor_uses_context,omitzero" help:"actors also read the context f_n^o, with MAPPO; the paper: appendix yes, figure no"`

	// Representations: predict.go
	Embed       int     `json:"d_s" range:"2..8192" help:"length of the observation embedding s_t; the paper: 64"`
	Latent      int     `json:"d_x" range:"1..8192" help:"length of the latent code x_t; not in the paper"`
	Hidden      int     `json:"phi_hidden,omitzero" range:"0..8192" help:"width of φ and ψ; 0: 256, as in Dynamic Bottleneck; not in the paper"`
	Polyak      float64 `json:"ema_tau" range:"0..1" help:"τ of the target encoder, per gradient step; not in the paper"`
	LogScaleMin float64 `json:"logstd_min" range:"-20..20" help:"lower bound of log σ of x_t; low values make the code deterministic"`
	LogScaleMax float64 `json:"logstd_max" range:"-20..20" help:"upper bound of log σ of x_t"`

	// L_explore: predict.go
	Alpha     float64 `json:"alpha" range:"0.." help:"α, weight of L_explore; the paper: 0.2, ablated with 0.5 and 1"`
	Contrast  float64 `json:"explore_nce" range:"0.." help:"weight of the contrastive term of L_explore; the paper: 0"`
	PsiSpread string  `json:"psi_spread" oneof:"optimal,learned" help:"standard deviation σ_ψ of the decoder; optimal: a running mean of its error, learned: a weight"`

	// L_exploit: exploit.go
	Exploit      bool    `json:"exploit" help:"L_exploit and the memory are used; false: the paper's ablation"`
	Upper        float64 `json:"c_bar" help:"c̄, upper level of Ψ per component of x_t; not in the paper"`
	Lower        float64 `json:"c_low" help:"c̲, lower level of Ψ per component of x_t; not in the paper"`
	LowerSign    string  `json:"lb_sign" oneof:"derived,printed" help:"sign of c̲ in L_LB; derived: from Cantelli's inequality, printed: the paper's"`
	Chance       float64 `json:"eps" range:"(0..1)" help:"ε, probability that Ψ violates a level"`
	MeanRadius   float64 `json:"amb_gamma1" range:"(0..)" help:"γ₁, radius of the ambiguity set around the mean"`
	SpreadRadius float64 `json:"amb_gamma2" help:"γ₂, radius of the ambiguity set around the second moment, above max(γ₁, 1)"`

	// Calibration: consistency.go, negatives.go
	CalibForm        string  `json:"calib_form" oneof:"bounded,plain" help:"form of the calibration h(γf, μ); plain: a function without a bound"`
	CalibKappa       float64 `json:"calib_kappa" range:"0.." help:"κ, largest correction of the bounded h before centring, in units of √Σ_Ψ"`
	CalibCentre      bool    `json:"calib_centre" help:"corrections have mean 0 over the minibatch"`
	MIBounds         string  `json:"mi_bounds" oneof:"sound,appendix,printed" help:"bounds of the mutual information in γ; appendix and printed are the paper's"`
	CriticBound      float64 `json:"critic_bound,omitzero" range:"0.." help:"largest root mean square of a step's scores before the sigmoid; 0: unbounded"`
	NegKind          string  `json:"neg_kind" oneof:"marginal,noise" help:"negatives of InfoNCE; marginal: f_n of other agent steps (the appendix), noise: f_n plus noise"`
	NegFilter        bool    `json:"neg_filter" help:"negatives come from agent steps with an f_{n-1}, as positives do"`
	Negatives        int     `json:"n_neg" range:"1..4096" help:"number of negatives per agent step"`
	ConsistencyDecay float64 `json:"gamma_ema" range:"[0..1)" help:"decay of the running mean of γ"`
	ConsistencyCoef  float64 `json:"nce_coef" range:"0.." help:"weight of the critic's InfoNCE loss; the paper's total loss does not show it"`

	// Intrinsic reward: reward.go, form.go. The paper adds r^i without normalisation, with weight 1.
	Form   Form    `json:"int_form,omitzero" help:"formula of the intrinsic reward r^i; kl: the paper's √KL"`
	Others float64 `json:"int_others,omitzero" range:"0.." help:"weight of each peer's r^i in an agent's reward, in training only; the paper: 0"`
	explore.Bonus

	// Training: module.go, sampling.go
	Steps     int     `json:"cermic_steps,omitzero" range:"0..100000" help:"gradient steps of the module after each rollout batch; 0: not trained"`
	Minibatch int     `json:"cermic_minibatch" range:"2..100000000" help:"agent steps per gradient step of the module"`
	LR        float64 `json:"lr" range:"(0..)" help:"Adam's step size for the module; the paper: 1e-4"`
	AdamEps   float64 `json:"adam_eps" range:"(0..)" help:"Adam's ε for the module; the paper: 1e-6"`
	GradClip  float64 `json:"grad_clip" range:"(0..)" help:"largest global norm of the module's gradient; larger ones are scaled down"`

	// Former settings.
	_ conf.Constant `key:"cermic_agent_id" value:"false"`
	_ conf.Constant `key:"cermic_epochs" value:"0"`
	_ conf.Constant `key:"cermic_frac" value:"1"`
	_ conf.Constant `key:"critic_squash" value:"sigmoid"`
	_ conf.Constant `key:"enc_ln" value:"true"`
	_ conf.Constant `key:"explore_reduce" value:"mean"`
	_ conf.Constant `key:"gamma_grad" value:"false"`
	_ conf.Constant `key:"nce_into_memory" value:"true"`
	_ conf.Constant `key:"neg_scale" value:"1"`
	_ conf.Constant `key:"psi_norm" value:"per_dim"`
	_ conf.Constant `key:"reward_feat" value:"symlog"`
}

var _ explore.Config = Config{}

func init() { explore.Register(Default()) }

// Default returns the module of mappo-cermic and qmix-cermic: the printed r^i = √KL and the paper's numbers where it
// has any. Elsewhere it is the reading that each field of Config describes. The memory is the graph, as in the paper.
// The MLP is several times cheaper on a CPU: -set explore.memory=mlp.
func Default() Config {
	return Config{
		Memory: memory.DefaultGraph(), PeerChannels: true,
		Embed: 64, Latent: 64, Polyak: 0.005, LogScaleMin: -2.3, LogScaleMax: 1,
		Alpha: 0.2, Contrast: 0.1, PsiSpread: SpreadOptimal,
		Exploit: true, Upper: 1, Lower: 0, LowerSign: SignDerived, Chance: 0.1, MeanRadius: 0.05, SpreadRadius: 1.05,
		CalibForm: CalibBounded, CalibKappa: 1, CalibCentre: true, MIBounds: BoundsSound, CriticBound: 5,
		NegKind: NegativesMarginal, NegFilter: true, Negatives: 16, ConsistencyDecay: 0.99, ConsistencyCoef: 1,
		Form: KL{}, Bonus: bonus(),
		Steps: 25, Minibatch: 128, LR: 1e-4, AdamEps: 1e-6, GradClip: 5,
	}
}

// Literal returns the preset that follows the paper's main text where Default departs from it. It has the printed sign
// of c̲, noise for negatives, and the appendix's bounds on the mutual information. h is unbounded and its corrections
// are not centred, σ_ψ is one learned number, L_explore has no contrastive term, and r^i is not normalised. γ keeps its
// last value where no f_{n-1} exists.
func Literal() Config {
	c := Default()
	c.LowerSign = SignPrinted
	c.NegKind, c.NegFilter = NegativesNoise, false
	c.MIBounds = BoundsAppendix
	c.CalibForm, c.CalibCentre = CalibPlain, false
	c.PsiSpread = SpreadLearned
	c.Contrast = 0
	c.IntNorm, c.IntMemory = explore.NormNone, 0
	return c
}

// UCB returns Default with the bonus of Theorem 1 on the code, ½·log(1+ηᵀΛ⁻¹η), instead of the printed √KL. It is the
// preset of mappo-cermic-ucb and qmix-cermic-ucb, which are our methods and no experiment of the paper. r^i is centred
// and divided by its running standard deviation, and peers' r^i is added in training, as in MACE.
// reproduce/EXPLORATION.md reports the search that led to it.
func UCB() Config {
	c := Default()
	c.PeerChannels, c.Contrast = false, 0
	c.Form, c.Others = DefaultElliptical(), 1
	c.Bonus = explore.DefaultBonus(c.Kind())
	c.IntCoef = 0.01
	return c
}

// bonus scales r^i: divided by the running standard deviation of its discounted return, not centred, with weight 1.
//
// Reading: the paper adds r^i unnormalised and does not discuss its scale (D14). With weight 1, Balance then stays
// below random play. Among the readings that keep MAPPO's scores, this one is the closest to the print. Dynamic
// Bottleneck, on which the module builds, divides in the same way. reproduce/PLAN.md has the rule, written before the
// sweep; reproduce/EXPLORATION.md has the sweep.
func bonus() explore.Bonus {
	return explore.Bonus{IntNorm: explore.NormReturnStd, IntMemory: 1, IntClip: 5, IntCoef: 1}
}

// Scheduled trains the module with half as many gradient steps as the learner, at the learner's step size. With far
// fewer steps, its networks hardly leave their initial weights (D38). With small networks, the bonus on the code takes
// 1.8 times as many steps as the learner, on larger minibatches. Fewer steps filter less noise
// (reproduce/EXPLORATION.md). Without a GPU there are 8 negatives per agent step instead of 16. The quick schedule uses
// the MLP as memory; the graph takes three times as long.
func (c Config) Scheduled(s rl.Schedule) explore.Config {
	if s.Sparing {
		c.Negatives = 8
	}
	if s.Quick {
		c.Memory = memory.DefaultMLP()
	}
	if c.Steps > 0 {
		c.Steps = (s.Updates + 1) / 2
		if s.LR > 0 {
			c.LR = s.LR
		}
	}
	if s.Width > 0 {
		c.Hidden = s.Width
		if _, ok := c.Form.(Elliptical); ok {
			c.Steps, c.Minibatch, c.LR = 9*s.Updates/5, 4*s.Width, 1e-3
		}
	}
	c.Memory = rl.OnSchedule(c.Memory, s)
	return c
}

// Kind is "cermic".
func (Config) Kind() string { return "cermic" }

// adam is the module's optimiser.
func (c Config) adam() nn.Adam { return nn.Adam{LR: c.LR, Eps: c.AdamEps, Clip: c.GradClip} }

// Validate returns one sentence about the first impossible setting. It also computes the band of KL(p‖q) in which both
// exploitation losses are zero, and refuses settings without one.
func (c Config) Validate() error {
	if c.Memory == nil {
		return fmt.Errorf("cermic: memory is not set, want one of %v", conf.Kinds[memory.Config]())
	}
	if err := conf.Check(c); err != nil {
		return fmt.Errorf("cermic: %w", err)
	}
	for _, check := range []func() error{c.Memory.Validate, c.validateParts, c.validateLevels} {
		if err := check(); err != nil {
			return fmt.Errorf("cermic: %w", err)
		}
	}
	return nil
}

func (c Config) validateParts() error {
	if c.LogScaleMin > c.LogScaleMax {
		return fmt.Errorf("logstd_min is %g, want at most logstd_max, %g", c.LogScaleMin, c.LogScaleMax)
	}
	if c.Alpha == 0 && !c.Exploit {
		return fmt.Errorf("alpha is 0 and exploit is false, so there is nothing to train: set one of them, or explore=none")
	}
	if c.ActorContext && !c.Exploit {
		return fmt.Errorf("actor_uses_context needs the memory, which exploit=false leaves out: change one of them")
	}
	return nil
}
