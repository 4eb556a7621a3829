// SPDX-License-Identifier: Apache-2.0

package envs

// Tracker is implemented by environments that can tell what their simulator knows of every agent. Only pre-training reads it;
// nothing that acts may.
type Tracker interface {
	// Track writes, for every agent as it was shown last, its place x, y in the units of Step.RelPos and the number of its type,
	// counted from 0: [E,N,3]. What it writes of the dead means nothing.
	Track(dst []float32)
}
