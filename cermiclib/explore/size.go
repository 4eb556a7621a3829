// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"

	"cermic/cermiclib/nn"
	"cermic/envs"
)

// Sized is a Config that can say what training it takes, from below and in bytes, on rollout batches of so many frames of s; see
// policy.Sized.
type Sized interface {
	Bytes(s *envs.Spec, frames int) float64
}

// Bytes counts the layers, and the scores of all codes of a minibatch against each other.
func (c DB) Bytes(s *envs.Spec, _ int) float64 {
	rows := float64(c.Minibatch)
	return nn.Bytes(rows, float64(s.InLen()), c.Feat) + nn.Bytes(rows, float64(c.Feat), c.Hidden, c.Latent, c.Hidden, c.Feat) + 4*rows*rows
}

// Bytes counts the world models and the policy that explores.
func (c ICES) Bytes(s *envs.Spec, _ int) float64 {
	rows, in := float64(c.Batch)*float64(s.Agents), float64(nn.ObsFeatures(s))
	return nn.Bytes(rows, in, append(slices.Clone(c.Hidden), c.Latent)...) + nn.Bytes(rows, in, c.PolicyWidth...)
}

// Bytes counts the novelty networks, the minibatch and layers of hindsight, and the frames that it keeps.
func (c MACE) Bytes(s *envs.Spec, frames int) float64 {
	l := newFrameLayout(s, 0)
	kept := min(float64(c.HindsightFrames), float64(c.HindsightBuffer)*float64(frames))
	rows := float64(c.Minibatch) * float64(s.Agents)
	sum := 4*(kept+float64(c.Minibatch))*float64(l.width()) + nn.Bytes(rows, float64(nn.ObsFeatures(s)), c.HindsightHidden...)
	return sum + nn.Bytes(rows, float64(nn.ObsFeatures(s)), append(slices.Repeat([]int{c.NoveltyWidth}, c.NoveltyLayers), c.NoveltyOut)...)
}

// Bytes counts the agents' Λ.
func (c RFF) Bytes(s *envs.Spec, _ int) float64 {
	d := float64(c.Waves + 1)
	return 8 * d * d * float64(s.Agents)
}
