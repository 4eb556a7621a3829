// SPDX-License-Identifier: Apache-2.0

package rl

import "context"

// Saver is implemented by components that keep state outside the variable store between iterations: running statistics,
// a replay. What Save returns is part of a checkpoint, and Load must continue bit-exactly from it.
type Saver interface {
	Save() []byte
	// Load returns an error if state does not fit the component's configuration.
	Load(state []byte) error
}

// Scorer is implemented by explorers whose intrinsic reward of an agent step is a function of its observation and action.
type Scorer interface {
	// Score writes the intrinsic reward of B agent steps into dst [B] with the explorer's present parameters, normalised and
	// weighted as in its last rollout batch. obs is [B,O]; act [B,A] holds the vector form of the actions. The agent steps of a frame
	// follow each other in the order of agents; what dst has for those that are not alive [B] counts for nobody.
	Score(ctx context.Context, dst, obs, act []float32, alive []uint8) error
	// CanScore is why it cannot with its settings, or nil.
	CanScore() error
}
