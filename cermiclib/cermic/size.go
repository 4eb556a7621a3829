// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/envs"
)

// Bytes counts encoder, latent and negatives of a gradient step, the memory's layers, and those of critic and calibration on its context; with negatives of the marginal kind each agent
// step is scored against all others of the minibatch. See explore.Sized.
func (c Config) Bytes(s *envs.Spec, _ int) float64 {
	s = c.spec(s)
	rows := float64(c.Minibatch)
	sum := nn.Bytes(rows, float64(nn.ObsFeatures(s)), c.Embed, c.Latent) + 4*rows*float64(c.Negatives+2*s.InLen())
	if !c.Exploit {
		return sum
	}
	if c.NegKind == NegativesMarginal {
		sum += 4 * rows * rows
	}
	if m, ok := c.Memory.(memory.Sized); ok {
		own, width := m.Bytes(s, rows)
		sum += own + nn.Bytes(rows, float64(width+2), width) + nn.Bytes(rows, float64(width+1), calibHidden)
	}
	return sum
}
