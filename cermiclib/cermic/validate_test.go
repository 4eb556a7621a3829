// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"testing"

	"cermic/cermiclib/memory"
	"cermic/envs/envtest/must"
)

func TestPresetsAreValid(t *testing.T) {
	for name, c := range map[string]Config{"Default": Default(), "Literal": Literal()} {
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestImpossibleSettingsAreRefusedByName(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		"memory is not set":                  func(c *Config) { c.Memory = nil },
		"d_f is 0":                           func(c *Config) { c.Memory = memory.MLP{Embed: 1, Hidden: 1} },
		"d_s is 1, want 2":                   func(c *Config) { c.Embed = 1 },
		"n_neg is 0":                         func(c *Config) { c.Negatives = 0 },
		"alpha is -1":                        func(c *Config) { c.Alpha = -1 },
		"there is nothing to train":          func(c *Config) { c.Alpha, c.Exploit = 0, false },
		`want one of sound, appendix`:        func(c *Config) { c.MIBounds = "sond" },
		`int_norm is "x", want one of none`:  func(c *Config) { c.IntNorm = "x" },
		"logstd_min is 2":                    func(c *Config) { c.LogScaleMin = 2 },
		"eps is 1, want above 0 and below 1": func(c *Config) { c.Chance = 1 },
		"amb_gamma2 is 1, want more":         func(c *Config) { c.SpreadRadius = 1 },
		"lr is 0, want above 0":              func(c *Config) { c.LR = 0 },
		"KL above 20.8 nats and L_UB bel":    func(c *Config) { c.Latent = 32 },
		"actor_uses_context":                 func(c *Config) { c.ActorContext, c.Exploit = true, false },
		"lambda is 0":                        func(c *Config) { c.Form = Elliptical{Lambda: 0, Reservoir: 1} },
		"reservoir is 0":                     func(c *Config) { c.Form = Elliptical{Lambda: 1, Reservoir: 0} },
		"int_others is -0.5":                 func(c *Config) { c.Others = -0.5 },
	} {
		c := Default()
		spoil(&c)
		must.RefuseAs(t, c.Validate(), "cermic: ", want)
	}
}

func TestEmptyBandIsAllowedWithoutExploitLosses(t *testing.T) {
	c := Default()
	c.Latent, c.Exploit = 32, false
	must.Do(t, c.Validate())
}
