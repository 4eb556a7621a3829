// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"fmt"

	"cermic/cermiclib/memory"
	"cermic/envs/conf"
)

// Validate returns one sentence about the first impossible setting. It also computes the band of KL(p‖q) in which both
// exploitation losses are zero, and refuses settings without one.
func (c Config) Validate() error {
	if c.Memory == nil {
		return fmt.Errorf("cermic: memory is not set, want one of %v", conf.Kinds[memory.Config]())
	}
	if err := conf.Check(c); err != nil {
		return fmt.Errorf("cermic: %w", err)
	}
	for _, check := range []func() error{c.Memory.Validate, c.validateParts, c.validateLevels, c.validateForm} {
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
	if c.Steps > 0 && c.Epochs > 0 {
		return fmt.Errorf("cermic_steps is %d and cermic_epochs is %d, but only one may be positive: set the other to 0",
			c.Steps, c.Epochs)
	}
	return nil
}
