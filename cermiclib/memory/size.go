// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"

	"cermic/cermiclib/nn"
	"cermic/envs"
)

// Sized is a Config that can say what training it takes, from below and in bytes, with gradient steps on rows agent steps of s, and the
// length F of its context, by which the module grows.
type Sized interface {
	Bytes(s *envs.Spec, rows float64) (bytes float64, width int)
}

// Bytes counts the layers.
func (c MLP) Bytes(s *envs.Spec, rows float64) (bytes float64, width int) {
	return nn.Bytes(rows, float64(nn.ObsFeatures(s)), c.Embed, c.Hidden, c.Hidden, c.Width), c.Width
}

// Bytes counts the gates of each layer.
func (c GRU) Bytes(s *envs.Spec, rows float64) (bytes float64, width int) {
	w := float64(c.Width)
	sum := nn.Bytes(rows, float64(nn.ObsFeatures(s)), c.Embed) + nn.Bytes(rows, float64(c.Embed)+w, 3*c.Width)
	return sum + float64(c.Layers-1)*nn.Bytes(rows, 2*w, 3*c.Width), c.Width
}

// Bytes counts the layers on one node of each agent step; its history and its peers come on top.
func (c DynamicGraph) Bytes(s *envs.Spec, rows float64) (bytes float64, width int) {
	hidden := append(slices.Repeat([]int{c.Hidden}, max(0, c.Layers-1)), c.Width)
	return nn.Bytes(rows, float64(nn.ObsFeatures(s)), c.Embed) + nn.Bytes(rows, float64(c.Node), hidden...), c.Width
}
