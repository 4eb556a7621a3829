// SPDX-License-Identifier: Apache-2.0

package rl

// Saver is implemented by components that keep state outside the variable store between iterations: running statistics,
// a replay. What Save returns is part of a checkpoint, and Load must continue bit-exactly from it.
type Saver interface {
	Save() []byte
	// Load returns an error if state does not fit the component's configuration.
	Load(state []byte) error
}
