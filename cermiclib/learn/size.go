// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Sized is a Config that can say what training p on s takes, from below and in bytes; see policy.Sized.
type Sized interface {
	Bytes(s *envs.Spec, p policy.Config) float64
}

// ofPolicy is what a policy says of itself.
func ofPolicy(p policy.Config, s *envs.Spec, rows float64) float64 {
	if sized, ok := p.(policy.Sized); ok {
		return sized.Bytes(s, rows)
	}
	return 0
}

// Bytes counts actor and critic in a gradient step.
func (c MAPPO) Bytes(s *envs.Spec, p policy.Config) float64 {
	frames := float64(min(c.Minibatch, c.Frames))
	rows, in := frames, float64(s.State)
	if c.Critic == OwnCritic {
		rows, in = frames*float64(s.Agents), float64(nn.ObsFeatures(s))
	}
	return ofPolicy(p, s, frames*float64(s.Agents)) + nn.Bytes(rows, in, c.CriticHidden...)
}

// Bytes counts the replay, utilities and their targets, and the mixer in a gradient step.
func (c Q) Bytes(s *envs.Spec, p policy.Config) float64 {
	rows := float64(c.Batch) * float64(s.Agents)
	sum := rl.ReplayBytes(s, c.Replay) + ofPolicy(p, s, rows)
	switch m := c.Mixer.(type) {
	case QMIX:
		sum += nn.Bytes(float64(c.Batch), float64(s.State), s.Agents*m.Embed)
	case QPLEX:
		sum += nn.Bytes(float64(c.Batch), float64(s.State), m.Hidden) * float64(m.Heads)
	case SPECTra:
		sum += nn.Bytes(rows, float64(m.Embed), m.Embed, m.Embed)
	}
	return sum
}
