// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"fmt"
	"math"

	"cermic/cermiclib/memory"
	"cermic/envs/conf"
)

// Validate returns one sentence about the first impossible setting. It also computes the band of KL(p‖q) in which both
// exploitation losses are zero and refuses settings that leave none.
func (c Config) Validate() error {
	if c.Memory == nil {
		return fmt.Errorf("cermic: memory is not set, want one of %v", conf.Kinds[memory.Config]())
	}
	for _, check := range []func() error{c.Memory.Validate, c.validateChoices, c.validateCounts, c.validateNumbers, c.validateLevels,
		c.Bonus.Validate, c.validateForm} {
		if err := check(); err != nil {
			return fmt.Errorf("cermic: %w", err)
		}
	}
	return nil
}

func (c Config) validateChoices() error {
	if err := conf.CheckChoices(c); err != nil {
		return err
	}
	if c.Alpha == 0 && !c.Exploit {
		return fmt.Errorf("alpha is 0 and exploit is false, which leaves nothing to train; set one of them, or explore=none")
	}
	if c.Steps > 0 && c.Epochs > 0 {
		return fmt.Errorf("cermic_steps is %d and cermic_epochs is %d, which both say how long the module is trained; set one of them to 0", c.Steps, c.Epochs)
	}
	if c.ActorContext && !c.Exploit {
		return fmt.Errorf("actor_uses_context is true and exploit is false, which leaves out the memory that it needs; change one of them")
	}
	return nil
}

func (c Config) validateCounts() error {
	for _, f := range []struct {
		name  string
		value int
		min   int
	}{
		{"d_s", c.Embed, 2}, // normalising a single component would leave nothing
		{"d_x", c.Latent, 1},
		{"phi_hidden", c.Hidden, 0}, // 0: Dynamic Bottleneck's
		{"n_neg", c.Negatives, 1},
		{"cermic_steps", c.Steps, 0},
		{"cermic_epochs", c.Epochs, 0},
		{"cermic_minibatch", c.Minibatch, 2}, // spreads and contrasts need company
	} {
		if f.value < f.min {
			return fmt.Errorf("%s is %d, want %d or more", f.name, f.value, f.min)
		}
	}
	return nil
}

func (c Config) validateNumbers() error {
	inf := math.Inf(1)
	for _, f := range []struct {
		name     string
		value    float64
		min, max float64
	}{
		{"ema_tau", c.Polyak, 0, 1},
		{"logstd_min", c.LogScaleMin, -20, c.LogScaleMax},
		{"logstd_max", c.LogScaleMax, -20, 20},
		{"alpha", c.Alpha, 0, inf},
		{"explore_nce", c.Contrast, 0, inf},
		{"calib_kappa", c.CalibKappa, 0, inf},
		{"neg_scale", c.NegScale, 0, inf},
		{"nce_coef", c.ConsistencyCoef, 0, inf},
		{"critic_bound", c.CriticBound, 0, inf},
		{"int_others", c.Others, 0, inf},
	} {
		if !(f.value >= f.min && f.value <= f.max) || math.IsInf(f.value, 0) {
			return fmt.Errorf("%s is %g, want a number from %g to %g", f.name, f.value, f.min, f.max)
		}
	}
	if !(c.ConsistencyDecay >= 0 && c.ConsistencyDecay < 1) { // at 1 γ would stay 0
		return fmt.Errorf("gamma_ema is %g, want 0 or more and less than 1", c.ConsistencyDecay)
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"lr", c.LR}, {"adam_eps", c.AdamEps}, {"grad_clip", c.GradClip}} {
		if !(f.value > 0) || math.IsInf(f.value, 0) {
			return fmt.Errorf("%s is %g, want a positive number", f.name, f.value)
		}
	}
	if !(c.Fraction > 0 && c.Fraction <= 1) {
		return fmt.Errorf("cermic_frac is %g, want more than 0 and at most 1", c.Fraction)
	}
	return nil
}
