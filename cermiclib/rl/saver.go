// SPDX-License-Identifier: Apache-2.0

package rl

import "context"

// Saver is a component with state outside the variable store, such as running statistics or a replay. Checkpoints
// contain the result of Save; Load must continue from it bit-exactly.
type Saver interface {
	Save() []byte
	// Load returns an error if state does not fit the component's configuration.
	Load(state []byte) error
}

// Scorer is an explorer with an intrinsic reward that is a function of an agent step's observation and action.
type Scorer interface {
	// Score writes the intrinsic reward of B agent steps into dst [B] with the explorer's current parameters,
	// normalised and weighted as in its last rollout batch. obs is [B,O]; act [B,A] holds the vector form of the
	// actions. The agents of a frame are consecutive. Entries of dst are undefined where alive [B] is 0.
	Score(ctx context.Context, dst, obs, act []float32, alive []uint8) error
	// CanScore returns why these settings do not allow it, or nil.
	CanScore() error
}
