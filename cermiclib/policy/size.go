// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cermic/cermiclib/nn"
	"cermic/envs"
)

// Sized is a Config that can say what it takes to train: from below, in bytes, with gradient steps on rows agent steps of s. It is asked
// before anything is built, so that a run beyond the machine's memory is refused in a moment. One that does not say counts nothing.
type Sized interface {
	Bytes(s *envs.Spec, rows float64) float64
}

// Bytes counts the hidden layers.
func (c MLP) Bytes(s *envs.Spec, rows float64) float64 {
	return nn.Bytes(rows, float64(nn.ObsFeatures(s)), append(c.Hidden[:len(c.Hidden):len(c.Hidden)], nn.ActionOutputs(&s.Act))...)
}

// Bytes counts the gates' weights and results, and the layers behind them.
func (c GRU) Bytes(s *envs.Spec, rows float64) float64 {
	in, w := float64(nn.ObsFeatures(s)), float64(c.Width)
	return nn.Bytes(rows, in+w, 3*c.Width) + nn.Bytes(rows, w, c.Hidden...)
}

// Bytes counts the network that acts and the predictor's layers, which see pairs of agents.
func (c CPM) Bytes(s *envs.Spec, rows float64) float64 {
	pairs := min(rows, float64(c.Minibatch)*float64(s.Agents)) * float64(max(0, s.Agents-1))
	sum := nn.Bytes(pairs, float64(nn.ObsFeatures(s)), c.Hidden, c.Latent)
	if core, ok := c.Core.(Sized); ok {
		sum += core.Bytes(s, rows)
	}
	return sum
}

// Bytes counts projections and the state.
func (c SPECTra) Bytes(_ *envs.Spec, rows float64) float64 {
	w := float64(c.Width)
	return nn.Bytes(rows, 2*w, 3*c.Width) + nn.Bytes(rows, w, c.Width, c.Width)
}
